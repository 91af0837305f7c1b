"""Finds messages that one side sends as one member of a union, and the other side reads as another member.

A message becomes the first member that accepts it. So both sides read samples of every member.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

from codegen.diff.compare.comparison import Comparison
from codegen.diff.compare.samples import make_samples
from codegen.diff.sources import Snapshot
from codegen.diff.verdict.verdicts import BREAKING, RISKY, Verdict, Verdicts, risks
from codegen.ir import Alias, Definition, Model, Schema, Union
from codegen.types import Type
from codegen.values import fits


@dataclass(frozen=True)
class Choice:
    """A union, as a definition or in the type of a property.

    Attributes:
        schema: its schema.
        members: its members, in the order in which they are tried. Members with a tag come first.
        named: the members, with their names in the head.
        exclusive: whether a message that several members accept is refused.
        has_fallback: whether a member without a tag may accept messages of other members.
    """

    schema: Schema
    members: tuple[Type, ...]
    named: tuple[Type, ...]
    exclusive: bool = False
    has_fallback: bool = True

    def sample_member(self, index: int, reader: Choice) -> list[Any]:
        """Return samples of a member that this side reads as that member, without scalars and empty ones."""
        samples = make_samples(self.schema, self.members, reader.schema, reader.members).make(self.members[index])
        return [value for value in samples if value and isinstance(value, (dict, list)) and self.read(value) == index]

    def read(self, value: Any) -> int | None:
        """Return the index of the member that a message becomes; None if it is refused."""
        accepting = self.find_accepting(value)
        return None if not accepting or (self.exclusive and len(accepting) > 1) else accepting[0]

    def find_accepting(self, value: Any) -> list[int]:
        """Return the indices of the members that accept a value, in the order in which they are tried."""
        return [index for index, member in enumerate(self.members) if fits(self.schema, value, member)]


def make_choice(schema: Schema, union: Union, names: Mapping[str, str]) -> Choice:
    """Return a union as a choice. `names` are the members' names in the head."""
    members = sorted(union.members, key=lambda member: member.tag is None)
    has_fallback = any(member.tag is None and not is_open_member(schema, member.name) for member in members)
    types = tuple(Type("ref", member.name) for member in members)
    return Choice(schema, types, tuple(type_.renamed(names) for type_ in types), union.exclusive, has_fallback)


def is_open_member(schema: Schema, name: str) -> bool:
    """Return whether a member of a union accepts all tags that the union doesn't list."""
    models = list(schema.concrete_models(name)) if name else []
    return bool(models) and all(model.accepts_other_tags for model in models)


def rate_member(sender: Choice, member: str, reader: Choice, counterpart: str = "") -> Verdict:
    """Rate how the other side reads a member's messages. There, the member is `counterpart`, or was removed."""
    index = sender.members.index(Type("ref", member))
    readings = [reader.read(value) for value in sender.sample_member(index, reader)]
    if not readings or None in readings:
        return BREAKING
    return risks(any(reader.members[reading].name != counterpart for reading in readings if reading is not None))


def compare_readings(comparison: Comparison) -> None:
    """Compare how both sides read the messages of every union, if anything has changed.

    All members that are read as the same other member are one finding.
    """
    for old, new in comparison.find_pairs() if comparison.findings else ():
        old_choices = dict(_find_choices(comparison.old, old, comparison.names))
        new_choices = dict(_find_choices(comparison.new, new, {}))
        for place in [place for place in old_choices if place in new_choices]:
            old_choice, new_choice = old_choices[place], new_choices[place]
            if old_choice.has_fallback or new_choice.has_fallback:
                subject = f"{new.name}.{place}" if place else new.name
                _compare(comparison, old, new, subject, old_choice, new_choice)


def _find_choices(side: Snapshot, definition: Definition, names: Mapping[str, str]) -> Iterator[tuple[str, Choice]]:
    """Yield the unions of a definition after the property that they are in; empty if the definition is a union."""
    if isinstance(definition, Union):
        if definition.base is None:
            yield "", make_choice(side.schema, definition, names)
        return
    types = {"": definition.type} if isinstance(definition, Alias) else {}
    if isinstance(definition, Model):
        types = {field.wire: field.type for field in definition.fields}
    for place, type_ in types.items():
        for union in list(_find_unions(type_))[:1]:
            yield place, Choice(side.schema, union.non_null.parts, union.non_null.renamed(names).parts)


def _find_unions(type_: Type) -> Iterator[Type]:
    """Yield the unions in a type that have a definition as a member."""
    if len(type_.non_null.parts) > 1 and type_.names:
        yield type_
    for part in type_.parts:
        yield from _find_unions(part)


def _compare(
    comparison: Comparison, old: Definition, new: Definition, subject: str, old_choice: Choice, new_choice: Choice
) -> None:
    # By the member that messages are read as: the members that they were sent as, and how bad that is.
    misread: dict[Type, list[tuple[Type, Verdicts]]] = {}
    for read_as, sent_as, verdict in _find_misread(new_choice, old_choice):
        if sent_as.name in comparison.gates:  # only peers get it that know it
            continue
        misread.setdefault(read_as, []).append((sent_as, Verdicts(old_peer=verdict)))
    for read_as, sent_as, verdict in _find_misread(old_choice, new_choice):
        if sent_as.name in comparison.old_gates:
            continue
        misread.setdefault(read_as, []).append((sent_as, Verdicts(new_peer=verdict, read=RISKY)))
    for read_as, members in misread.items():
        comparison.add(
            "union-member-shadowed",
            old,
            new,
            subject=f"{subject}:{read_as.hint}",
            verdicts=reduce(Verdicts.joined, (verdicts for _, verdicts in members)),
            texts=(", ".join(dict.fromkeys(sent_as.hint for sent_as, _ in members)), f"read as {read_as.hint}"),
        )


def _find_misread(sender: Choice, reader: Choice) -> Iterator[tuple[Type, Type, Verdict]]:
    """Yield the member that a message is read as, the member that it was sent as, and how bad that is.

    Members that the other side doesn't have are skipped, because they may exist there under another name.
    """
    for index, sent_as in enumerate(sender.named):
        for value in sender.sample_member(index, reader):
            accepting = reader.find_accepting(value)
            is_refused = reader.exclusive and len(accepting) > 1
            for accepting_index in accepting if is_refused else accepting[:1]:
                read_as = reader.named[accepting_index]
                is_known = sent_as in reader.named or read_as in sender.named
                is_open = is_open_member(reader.schema, reader.members[accepting_index].name)
                if read_as != sent_as and is_known and not is_open:
                    yield read_as, sent_as, BREAKING if is_refused else RISKY
