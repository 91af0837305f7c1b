"""Find messages that were meant as one member of a union and are read as another one by the other side.

A message becomes the first member that accepts it. So samples of each member are read as both sides read them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any

from codegen.diff.compare.comparison import Comparison
from codegen.diff.compare.pointers import is_derived
from codegen.diff.sources import Snapshot
from codegen.diff.verdict.verdicts import BREAKING, RISKY, SAFE, Verdict, Verdicts, risks
from codegen.ir import Definition, Model, Schema, Union
from codegen.types import Type
from codegen.values import Samples, find_scalars, fits


@dataclass(frozen=True)
class Choice:
    """A union, as a definition or in the type of a property.

    Attributes:
        schema: its schema.
        members: its members, in the order in which they are tried: those with a tag are tried first.
        exclusive: whether a message that several members accept is refused.
        has_fallback: whether a member without a tag may accept messages that are meant as another one.
    """

    schema: Schema
    members: tuple[Type, ...]
    exclusive: bool = False
    has_fallback: bool = True

    @classmethod
    def of(cls, schema: Schema, union: Union) -> Choice:
        members = sorted(union.members, key=lambda each: each.tag is None)
        has_fallback = any(each.tag is None and not is_open_member(schema, each.name) for each in members)
        return cls(schema, tuple(Type("ref", each.name) for each in members), union.exclusive, has_fallback)

    def samples(self, index: int, reader: Choice) -> list[Any]:
        """Return samples of a member's messages that this side reads as that member. Each holds an object."""
        made = Samples(self.schema, (*self.scalars, *reader.scalars)).make(self.members[index])
        return [value for value in made if value and isinstance(value, (dict, list)) and self.read(value) == index]

    def read(self, value: Any) -> int | None:
        """Return the index of the member that a message becomes; None if it is refused."""
        accepting = self.accepting(value)
        return None if not accepting or (self.exclusive and len(accepting) > 1) else accepting[0]

    def accepting(self, value: Any) -> list[int]:
        """Return the indices of the members that accept a value, in the order in which they are tried."""
        return [index for index, member in enumerate(self.members) if fits(self.schema, value, member)]

    @cached_property
    def scalars(self) -> list[Any]:
        return list(find_scalars(self.schema, self.members))


def is_open_member(schema: Schema, name: str) -> bool:
    """Return whether a member of a union accepts all tags that the union doesn't list."""
    models = list(schema.concrete_models(name)) if name else []
    return bool(models) and all(each.accepts_other_tags for each in models)


def verdict(sender: Choice, member: str, reader: Choice, counterpart: str = "") -> Verdict:
    """Return how bad it is that a member's messages are read by the other side, where it is `counterpart` or gone."""
    index = sender.members.index(Type("ref", member))
    read = [reader.read(value) for value in sender.samples(index, reader)]
    if not read or None in read:
        return BREAKING
    return risks(any(reader.members[each].name != counterpart for each in read if each is not None))


def compare_readings(comparison: Comparison) -> None:
    """Compare how both sides read the messages of every union, if anything has changed.

    A member that others are read as is one finding.
    """
    for old, new in comparison.pairs() if comparison.findings else ():
        olds, news = dict(_choices(comparison.old, old)), dict(_choices(comparison.new, new))
        for place in [place for place in olds if place in news]:
            if olds[place].has_fallback or news[place].has_fallback:
                _compare(comparison, old, new, place, olds[place], news[place])


def _choices(side: Snapshot, definition: Definition) -> Iterator[tuple[str, Choice]]:
    """Yield the unions of a definition, each with the property that it is in; empty if it is the definition."""
    if isinstance(definition, Union):
        if not is_derived(side.raw, definition):
            yield "", Choice.of(side.schema, definition)
        return
    types = (
        {each.wire: each.type for each in definition.fields} if isinstance(definition, Model) else {"": definition.type}
    )
    for place, kind in types.items():
        for union in list(_unions(kind))[:1]:
            yield place, Choice(side.schema, union.concrete.parts)


def _unions(kind: Type) -> Iterator[Type]:
    """Yield the unions in a type of which a member is a definition."""
    if len(kind.concrete.parts) > 1 and kind.names:
        yield kind
    for part in kind.parts:
        yield from _unions(part)


def _compare(comparison: Comparison, old: Definition, new: Definition, place: str, olds: Choice, news: Choice) -> None:
    names = [each.renamed(comparison.names) for each in olds.members]
    same = {index: news.members.index(each) for index, each in enumerate(names) if each in news.members}
    back = {after: before for before, after in same.items()}
    found = [
        *((names[front], news.members[meant], Verdicts(bad)) for front, meant, bad in _misread(news, olds, back)),
        *(
            (news.members[front], names[meant], Verdicts(SAFE, bad, SAFE, RISKY))
            for front, meant, bad in _misread(olds, news, same)
        ),
    ]
    for front in dict.fromkeys(front for front, _, _ in found):
        name, mine = front.hint, [each[1:] for each in found if each[0] == front]
        comparison.add(
            "union-member-shadowed",
            old,
            new,
            subject=f"{new.name}.{place}:{name}" if place else f"{new.name}:{name}",
            verdicts=reduce(Verdicts.joined, (verdicts for _, verdicts in mine)),
            texts=(", ".join(dict.fromkeys(meant.hint for meant, _ in mine)), f"read as {name}"),
        )


def _misread(sender: Choice, reader: Choice, same: dict[int, int]) -> Iterator[tuple[int, int, Verdict]]:
    """Yield the reader's member that accepts a message, the sender's that is meant, and how bad that is.

    `same` are the reader's members that correspond to the sender's. Members that the other side doesn't have may
    correspond under another name.
    """
    for meant in range(len(sender.members)):
        for value in sender.samples(meant, reader):
            accepting = reader.accepting(value)
            is_refused = reader.exclusive and len(accepting) > 1
            others = [each for each in accepting[: None if is_refused else 1] if each != same.get(meant)]
            for front in others:
                if not is_open_member(reader.schema, reader.members[front].name) and (
                    meant in same or front in same.values()
                ):
                    yield front, meant, BREAKING if is_refused else RISKY
