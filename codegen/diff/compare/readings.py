"""Find messages that were meant as one member of a union and are read as another one by the other side.

A message becomes the first member that accepts it. So samples of each member are read as both sides read them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

from codegen.diff.compare.comparison import Comparison
from codegen.diff.compare.pointers import is_derived
from codegen.diff.compare.samples import make_samples
from codegen.diff.sources import Snapshot
from codegen.diff.verdict.verdicts import BREAKING, RISKY, SAFE, Verdict, Verdicts, risks
from codegen.ir import Definition, Model, Schema, Union
from codegen.types import Type
from codegen.values import fits


@dataclass(frozen=True)
class Choice:
    """A union, as a definition or in the type of a property.

    Attributes:
        schema: its schema.
        members: its members, in the order in which they are tried: those with a tag are tried first.
        named: the members with the names that the head has for them.
        exclusive: whether a message that several members accept is refused.
        has_fallback: whether a member without a tag may accept messages that are meant as another one.
    """

    schema: Schema
    members: tuple[Type, ...]
    named: tuple[Type, ...]
    exclusive: bool = False
    has_fallback: bool = True

    def samples(self, index: int, reader: Choice) -> list[Any]:
        """Return samples of a member's messages that this side reads as that member. Each holds an object."""
        made = make_samples(self.schema, self.members, reader.schema, reader.members).make(self.members[index])
        return [value for value in made if value and isinstance(value, (dict, list)) and self.read(value) == index]

    def read(self, value: Any) -> int | None:
        """Return the index of the member that a message becomes; None if it is refused."""
        accepting = self.accepting(value)
        return None if not accepting or (self.exclusive and len(accepting) > 1) else accepting[0]

    def accepting(self, value: Any) -> list[int]:
        """Return the indices of the members that accept a value, in the order in which they are tried."""
        return [index for index, member in enumerate(self.members) if fits(self.schema, value, member)]


def make_choice(schema: Schema, union: Union, names: Mapping[str, str]) -> Choice:
    """Return a union as a choice. `names`: the names that the head has for its members."""
    members = sorted(union.members, key=lambda member: member.tag is None)
    has_fallback = any(member.tag is None and not is_open_member(schema, member.name) for member in members)
    types = tuple(Type("ref", member.name) for member in members)
    return Choice(schema, types, tuple(type_.renamed(names) for type_ in types), union.exclusive, has_fallback)


def is_open_member(schema: Schema, name: str) -> bool:
    """Return whether a member of a union accepts all tags that the union doesn't list."""
    models = list(schema.concrete_models(name)) if name else []
    return bool(models) and all(model.accepts_other_tags for model in models)


def rate_member(sender: Choice, member: str, reader: Choice, counterpart: str = "") -> Verdict:
    """Return how bad it is that a member's messages are read by the other side, where it is `counterpart` or gone."""
    index = sender.members.index(Type("ref", member))
    read = [reader.read(value) for value in sender.samples(index, reader)]
    if not read or None in read:
        return BREAKING
    return risks(
        any(reader.members[member_index].name != counterpart for member_index in read if member_index is not None)
    )


def compare_readings(comparison: Comparison) -> None:
    """Compare how both sides read the messages of every union, if anything has changed.

    A member that others are read as is one finding.
    """
    for old, new in comparison.pairs() if comparison.findings else ():
        olds, news = (
            dict(_find_choices(comparison.old, old, comparison.names)),
            dict(_find_choices(comparison.new, new, {})),
        )
        for place in [place for place in olds if place in news]:
            if olds[place].has_fallback or news[place].has_fallback:
                _compare(comparison, old, new, f"{new.name}.{place}" if place else new.name, olds[place], news[place])


def _find_choices(side: Snapshot, definition: Definition, names: Mapping[str, str]) -> Iterator[tuple[str, Choice]]:
    """Yield the unions of a definition, each with the property that it is in; empty if it is the definition."""
    if isinstance(definition, Union):
        if not is_derived(side.raw, definition):
            yield "", make_choice(side.schema, definition, names)
        return
    types = (
        {field.wire: field.type for field in definition.fields}
        if isinstance(definition, Model)
        else {"": definition.type}
    )
    for place, type_ in types.items():
        for union in list(_find_unions(type_))[:1]:
            yield place, Choice(side.schema, union.non_null.parts, union.non_null.renamed(names).parts)


def _find_unions(type_: Type) -> Iterator[Type]:
    """Yield the unions in a type of which a member is a definition."""
    if len(type_.non_null.parts) > 1 and type_.names:
        yield type_
    for part in type_.parts:
        yield from _find_unions(part)


def _compare(
    comparison: Comparison, old: Definition, new: Definition, subject: str, olds: Choice, news: Choice
) -> None:
    misread_as: dict[Type, list[tuple[Type, Verdicts]]] = {}
    for front, meant, bad in _find_misread(news, olds):
        misread_as.setdefault(front, []).append((meant, Verdicts(bad)))
    for front, meant, bad in _find_misread(olds, news):
        misread_as.setdefault(front, []).append((meant, Verdicts(SAFE, bad, SAFE, RISKY)))
    for front, misread in misread_as.items():
        verdicts = reduce(Verdicts.joined, (verdicts for _, verdicts in misread))
        texts = (", ".join(dict.fromkeys(meant.hint for meant, _ in misread)), f"read as {front.hint}")
        place = f"{subject}:{front.hint}"
        comparison.add("union-member-shadowed", old, new, subject=place, verdicts=verdicts, texts=texts)


def _find_misread(sender: Choice, reader: Choice) -> Iterator[tuple[Type, Type, Verdict]]:
    """Yield the reader's member that accepts a message, the sender's that is meant, and how bad that is.

    Members that the other side doesn't have may correspond under another name.
    """
    for index, meant in enumerate(sender.named):
        for value in sender.samples(index, reader):
            accepting = reader.accepting(value)
            is_refused = reader.exclusive and len(accepting) > 1
            for accepted_index in accepting[: None if is_refused else 1]:
                front, is_known = (
                    reader.named[accepted_index],
                    meant in reader.named or reader.named[accepted_index] in sender.named,
                )
                if (
                    front != meant
                    and is_known
                    and not is_open_member(reader.schema, reader.members[accepted_index].name)
                ):
                    yield front, meant, BREAKING if is_refused else RISKY
