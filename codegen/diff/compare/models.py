"""Compares objects: their properties and their base classes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import reduce

from codegen.diff.compare.comparison import Comparison, note_deprecation
from codegen.diff.compare.pointers import property_pointer
from codegen.diff.compare.types import TypeChange, compare_types, expand_aliases, find_deprecated_values
from codegen.diff.match import are_similar_names, leniency, meaning_of_field, pair
from codegen.diff.verdict.rules import RULES
from codegen.diff.verdict.verdicts import RISKY, SAFE, Verdicts
from codegen.ir import Field, Model, Schema
from codegen.names import words
from codegen.values import drop_defaults

# The beginnings of rules about parts of one change of a property, the most important first.
_PARTS = ("type-changed", "property-became-", "nullable-", "property-default-")


@dataclass(frozen=True)
class ModelComparison:
    """The comparison of one object."""

    comparison: Comparison
    old: Model
    new: Model

    def add(
        self,
        rule: str,
        before: Field | None,
        after: Field | None,
        texts: tuple[str, str] | None = None,
        verdicts: Verdicts | None = None,
        part: str = "",
    ) -> None:
        """Add a finding about a property, or about a part of its type."""
        comparison = self.comparison
        newest, oldest = after or before, before or after
        assert newest is not None
        assert oldest is not None
        python_names = [
            comparison.python_name(self.new.name, newest.name),
            comparison.python_name(self.old.name, oldest.name),
        ]
        verdicts, shown = comparison.apply_gates(
            verdicts or RULES[rule].verdicts,
            texts=(_show_field(before), _show_field(after)),
            old_part=f"{self.old.name}.{before.wire}" if before and not after else "",
            new_part=f"{self.new.name}.{after.wire}" if after and not before else "",
        )
        # Refused messages have the property's key, unless they are refused because it is missing.
        has_key = newest.required == oldest.required
        pointers = self.find_pointers(before, after)
        comparison.add(
            rule,
            self.old,
            self.new,
            pointers=pointers,
            subject=f"{self._find_owner(*pointers)}.{newest.wire}{part}",
            symbols=tuple(dict.fromkeys(python_names)),
            texts=texts or shown,
            verdicts=verdicts,
            sent_texts=(before.wire if before and has_key else "", after.wire if after and has_key else ""),
            reading_code=_write_reading_code(self.old, before, after),
        )

    def find_pointers(self, before: Field | None, after: Field | None) -> tuple[str, str]:
        """Return the pointers of a property on both sides."""
        return (
            property_pointer(self.comparison.old.raw, self.old.pointer, before.wire) if before else "",
            property_pointer(self.comparison.new.raw, self.new.pointer, after.wire) if after else "",
        )

    def _find_owner(self, old_pointer: str, new_pointer: str) -> str:
        """Return the definition with a property: the object, or the union that defines it for all members."""
        pointer, model = (new_pointer, self.new) if new_pointer else (old_pointer, self.old)
        return self.new.name if pointer.startswith(model.pointer) else pointer.split("/")[2]


def _write_reading_code(model: Model, old: Field | None, new: Field | None) -> str:
    """Return a line of code that reads a property; empty if the line still works with the head's property."""
    if old is None:
        return ""
    if new is None or old.name != new.name:
        return f"{old.name} = value.{old.name}  # value: {model.name}"
    if new.attribute_type.hint in (old.attribute_type.hint, "Any"):
        return ""
    return f"{old.name}: {old.attribute_type.hint} = value.{old.name}  # value: {model.name}"


def compare_models(comparison: Comparison, old: Model, new: Model) -> None:
    """Compare two objects property by property.

    If the base class differs, inherited properties are compared too. Tags are compared with their union.
    """
    models = ModelComparison(comparison, old, new)
    before = {field.wire: field for field in old.fields}
    after = {field.wire: field for field in new.fields}
    all_before = {field.wire: field for field in comparison.old.schema.fields(old.name)}
    all_after = {field.wire: field for field in comparison.new.schema.fields(new.name)}
    base = comparison.names.get(old.base) if old.base else None
    if base != new.base or (old.base is None) != (new.base is None):
        comparison.add("definition-base-changed", old, new, texts=(old.base or "", new.base or ""))
        before, after = before | all_before, after | all_after
    removed = {wire: field for wire, field in before.items() if wire not in after and field.tag is None}
    added = {wire: field for wire, field in after.items() if wire not in before and field.tag is None}
    for wire in [wire for wire in (*removed, *added) if wire in all_before and wire in all_after]:
        models.add("property-moved", removed.pop(wire, None), added.pop(wire, None))
        _compare_fields(models, all_before[wire], all_after[wire])
    renamed = _pair_renamed(comparison, removed, added)
    for old_wire, new_wire in renamed.items():
        rule = _choose_rule("property-{}-renamed", before[old_wire])
        models.add(rule, removed.pop(old_wire), added.pop(new_wire))
    for field in removed.values():
        models.add(_choose_rule("property-{}-removed", field), field, None)
    for field in added.values():
        models.add(_choose_rule("property-{}-added", field), None, field)
    for wire in [wire for wire in before if wire in after]:
        _compare_fields(models, before[wire], after[wire])
    is_open_member = old.accepts_other_tags or new.accepts_other_tags  # which always allows unknown keys
    if old.is_open != new.is_open and comparison.names.get(old.name) == new.name and not is_open_member:
        texts = _show_openness(old), _show_openness(new)
        comparison.add("definition-openness-changed", old, new, texts=texts)


def _show_openness(model: Model) -> str:
    return "unknown keys: allowed" if model.is_open else "unknown keys: not mentioned"


def _choose_rule(rule: str, field: Field) -> str:
    return rule.format("required" if field.required else "optional")


def _pair_renamed(comparison: Comparison, removed: dict[str, Field], added: dict[str, Field]) -> dict[str, str]:
    """Pair renamed properties: they mean the same, and have the same description or similar names."""

    def find_meaning(schema: Schema, field: Field, names: Mapping[str, str]) -> tuple[object, ...]:
        return meaning_of_field(replace(field, type=expand_aliases(schema, field.type, ())), names)

    def are_same(old: str, new: str) -> bool:
        before, after = removed[old], added[new]
        old_meaning = find_meaning(comparison.old.schema, before, comparison.names)
        if old_meaning != find_meaning(comparison.new.schema, after, {}):
            return False
        return bool(before.doc and before.doc == after.doc) or are_similar_names(old, new)

    return pair(list(removed), list(added), are_same)


def _compare_fields(models: ModelComparison, old: Field, new: Field) -> None:
    """Compare one property."""
    if old.tag != new.tag:
        return  # compared with its union
    comparison = models.comparison
    changes = [
        change._replace(verdicts=_soften(change, old, new)) for change in compare_types(comparison, old.type, new.type)
    ]
    changes += filter(None, [_compare_need(old, new), _compare_defaults(comparison, old, new)])
    for change in _join(changes, old, new):
        gated = change.gated(comparison, f"{models.old.name}.{old.wire}", f"{models.new.name}.{new.wire}")
        models.add(gated.rule, old, new, (gated.before, gated.after), gated.verdicts)
    _compare_leniency(models, old, new)
    if old.deprecated != new.deprecated:
        models.add("property-deprecated", old, new, note_deprecation(old, new))
    for value, texts in find_deprecated_values(comparison, *models.find_pointers(old, new)):
        models.add("type-part-deprecated", old, new, texts, part=f":{value}")


def _join(changes: list[TypeChange], old: Field, new: Field) -> list[TypeChange]:
    """Return the changes of a property, with one change for its type, null, default and whether it is required.

    The most important of these stands for all of them.
    """
    parts = [change for change in changes if change.rule.startswith(_PARTS)]
    if len(parts) < 2:
        return changes
    most_important = next(change for rule in _PARTS for change in parts if change.rule.startswith(rule))
    verdicts = reduce(Verdicts.joined, (change.verdicts for change in parts))
    whole = most_important._replace(verdicts=verdicts, before=_show_field(old), after=_show_field(new))
    return [whole, *(change for change in changes if change not in parts)]


def _soften(change: TypeChange, old: Field, new: Field) -> Verdicts:
    """Return the verdicts of a type change. They are at most risky where invalid values, or None, are tolerated."""
    both_lists = all(field.type.non_null.kind == "array" and not field.type.non_null.limits for field in (old, new))
    verdicts = change.verdicts.softened(
        old_peer=_tolerates_invalid(change, old, both_lists),
        new_peer=_tolerates_invalid(change, new, both_lists),
    )
    # The constructor still takes None, which means that the property is missing.
    takes_none = change.rule == "nullable-removed" and not new.required and new.default is None
    return verdicts._replace(build=RISKY) if takes_none else verdicts


def _tolerates_invalid(change: TypeChange, reader: Field, both_lists: bool) -> bool:
    """Return whether a property tolerates the values that a type change made invalid."""
    if "DefaultOnError" in reader.markers:
        return True
    if change.rule.startswith("nullable"):
        return "DefaultOnNull" in reader.markers
    return "SkipInvalidItems" in reader.markers and both_lists


def _compare_need(old: Field, new: Field) -> TypeChange | None:
    if old.required == new.required:
        return None
    rule = "property-became-required" if new.required else "property-became-optional"
    verdicts = RULES[rule].verdicts
    may_now_be_none = new.default is None and not old.type.nullable
    if not new.required and not may_now_be_none:
        verdicts = verdicts._replace(read=SAFE)
    return TypeChange(rule, verdicts, _show_field(old), _show_field(new))


def _compare_defaults(comparison: Comparison, old: Field, new: Field) -> TypeChange | None:
    """Return the change of an optional property's default; None if there is none."""
    before, after = _show_default(old), _show_default(new)
    if before == after or old.required or new.required:
        return None
    change = "added" if not before else "changed" if after else "removed"
    rule = f"property-default-{change}"
    verdicts = RULES[rule].verdicts
    if new.default is not None and change == "removed":
        verdicts = verdicts._replace(read=RISKY)
    old_default = drop_defaults(comparison.old.schema, old.default, old.type)
    new_default = drop_defaults(comparison.new.schema, new.default, new.type)
    if change == "changed" and old_default == new_default:
        verdicts = Verdicts()
    return TypeChange(rule, verdicts, before, after)


def _show_default(field: Field) -> str:
    return json.dumps(field.default, sort_keys=True) if field.has_default else ""


def _compare_leniency(models: ModelComparison, old: Field, new: Field) -> None:
    before, after = leniency(old), leniency(new)
    if added := _name_keywords(after, before):
        models.add("property-leniency-added", old, new, ("", added))
    if removed := _name_keywords(before, after):
        models.add("property-leniency-removed", old, new, (removed, ""))


def _name_keywords(markers: tuple[str, ...], others: tuple[str, ...]) -> str:
    """Return the keywords of the markers that aren't among the others. Null is one of the invalid values."""
    covered = (*others, "DefaultOnNull") if "DefaultOnError" in others else others
    return ", ".join(f"x-deserialize-{'-'.join(words(marker))}" for marker in markers if marker not in covered)


def _show_field(field: Field | None) -> str:
    """Return a property with its type and its default; empty if there is none."""
    if field is None:
        return ""
    default = f" = {_show_default(field)}" if field.has_default else ""
    return f"{field.wire}: {field.type.annotation}{default}{'' if field.required or default else ' (optional)'}"
