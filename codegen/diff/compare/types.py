"""Compares types: whether they allow null, their constants, their limits, or the whole type."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import NamedTuple

from codegen.diff.compare.comparison import Comparison, note_deprecation
from codegen.diff.compare.pointers import find_parts
from codegen.diff.compare.samples import accepts_all
from codegen.diff.verdict.rules import RULES
from codegen.diff.verdict.verdicts import SAFE, Verdicts, breaks, risks
from codegen.escaping import python_literal
from codegen.ir import Alias, Schema
from codegen.types import NULL, Enum, Type, union_of


def find_deprecated_values(comparison: Comparison, old: str, new: str) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the parts of the type at these pointers whose deprecation changed, with the texts of both sides."""
    before, after = find_parts(comparison.old.raw, old), find_parts(comparison.new.raw, new)
    for name in [name for name in before if name in after]:
        if before[name].deprecated != after[name].deprecated:
            yield name, note_deprecation(before[name], after[name])


class TypeChange(NamedTuple):
    """A change of a type: its rule, its verdicts, and the texts of both sides."""

    rule: str
    verdicts: Verdicts
    before: str
    after: str

    def gated(self, comparison: Comparison, old: str, new: str) -> TypeChange:
        """Return the change, given the capability that the new or the removed value of an enum requires.

        Args:
            comparison: the comparison, which knows the capabilities.
            old: the name of the enum in the base: a definition, or `Definition.property`.
            new: its name in the head.
        """
        verdicts, texts = comparison.apply_gates(
            self.verdicts,
            texts=(self.before, self.after),
            old_part=f"{old}.{self.before}" if self.rule.endswith("-value-removed") else "",
            new_part=f"{new}.{self.after}" if self.rule.endswith("-value-added") else "",
        )
        return TypeChange(self.rule, verdicts, *texts)


def compare_types(comparison: Comparison, old: Type, new: Type) -> Iterator[TypeChange]:
    """Yield the changes between two types. A type doesn't change if a definition that it refers to is renamed."""
    names = comparison.names
    if old.renamed(names) == new:
        if old.annotation != new.annotation and set(old.names) == set(new.names):
            yield _make_change("type-respelled", old.annotation, new.annotation)
        return
    texts = old.annotation, new.annotation
    # Definitions that both types refer to are kept, because their changes are findings of their own.
    kept = set(old.renamed(names).names) & set(new.names)
    sent = expand_aliases(comparison.old.schema, old, {name for name in old.names if names.get(name) in kept})
    after = expand_aliases(comparison.new.schema, new, kept)
    before = sent.renamed(names)
    differ_in_null = before.nullable != after.nullable and not _is_any(before, after)
    old_enum, new_enum = before.non_null.enum, after.non_null.enum
    differs_otherwise = before.non_null.unlimited() != after.non_null.unlimited() and not (old_enum and new_enum)
    if differ_in_null and differs_otherwise:
        yield _compare_whole(comparison, sent, after, texts)
        return
    if differ_in_null:
        rule = "nullable-added" if after.nullable else "nullable-removed"
        only_null = union_of([old, NULL]) if after.nullable else old.non_null
        changed = new if before.non_null == after.non_null else only_null
        yield _make_change(rule, old.annotation, changed.annotation)
    sent, before, after = sent.non_null, before.non_null, after.non_null
    if before == after:
        if not differ_in_null:
            yield _make_change("type-respelled", *texts)
        return
    if not old_enum or not new_enum:
        yield _compare_whole(comparison, sent, after, texts)
        return
    yield from _compare_enums(old_enum, new_enum)
    if old_enum.others and new_enum.others and old_enum.others != new_enum.others:
        yield _compare_whole(comparison, sent, after, texts)


def _is_any(*types: Type) -> bool:
    """Return whether a type allows any value. Then a change of nullability is a change of the type."""
    return any(member.kind == "any" for type_ in types for member in type_.members)


def _compare_enums(old: Enum, new: Enum) -> Iterator[TypeChange]:
    """Yield the changes between two enums: whether they are open, and each value."""
    if (old.others is None) != (new.others is None):
        yield _make_change("enum-opened" if new.others else "enum-closed", _show_enum(old), _show_enum(new))
    # As source, because 1 equals True in Python.
    old_values = {python_literal(value): value for value in old.values}
    new_values = {python_literal(value): value for value in new.values}
    for source, value in new_values.items():
        if source not in old_values:
            yield _make_change(f"enum-{'open' if old.others else 'closed'}-value-added", "", str(value))
    for source, value in old_values.items():
        if source not in new_values:
            yield _make_change(f"enum-{'open' if new.others else 'closed'}-value-removed", str(value), "")


def _show_enum(enum: Enum) -> str:
    """Return all values that an enum accepts, as text."""
    listed = ", ".join(map(python_literal, enum.values))
    return f"open: {listed}, any other {enum.others.kind}" if enum.others else f"closed: {listed}"


def _make_change(rule: str, before: str, after: str) -> TypeChange:
    return TypeChange(rule, RULES[rule].verdicts, before, after)


def _compare_whole(comparison: Comparison, sent: Type, after: Type, texts: tuple[str, str]) -> TypeChange:
    """Return a change of the limits or of the whole type. `sent` is the base's type.

    A type gained values if the head can send values that the base refuses. It lost values in the reverse case.
    """
    names = comparison.names
    before = sent.renamed(names)
    gained = not accepts_all(
        comparison.new.schema, after, comparison.old.schema, sent, {new: old for old, new in names.items()}
    )
    lost = not accepts_all(comparison.old.schema, sent, comparison.new.schema, after, names)
    if before.unlimited() == after.unlimited():
        verdicts = Verdicts(breaks(gained), breaks(lost), risks(lost), SAFE)
        change = "changed" if gained and lost else "loosened" if gained else "tightened"
        rule = f"constraint-{change}" if gained or lost else "type-respelled"
        return TypeChange(rule, verdicts, *texts)
    other_classes = set(before.names) != set(after.names)
    verdicts = Verdicts(breaks(gained), breaks(lost), breaks(lost or other_classes), breaks(gained or other_classes))
    return TypeChange("type-changed", verdicts, *texts)


def expand_aliases(schema: Schema, type_: Type, kept: Collection[str]) -> Type:
    """Return a type with aliases expanded, except those in `kept`. JSON and type checkers don't know aliases."""
    definition = schema.definitions.get(type_.name)
    if isinstance(definition, Alias) and type_.name not in kept:
        return expand_aliases(schema, definition.type, {*kept, type_.name})  # it may contain itself
    parts = [expand_aliases(schema, part, kept) for part in type_.parts]
    return union_of(parts) if type_.kind == "union" else replace(type_, parts=tuple(parts))
