"""Compare objects: their properties and their base classes."""

from __future__ import annotations

import json
from dataclasses import dataclass

from codegen.diff.compare.comparison import Comparison, deprecation_texts
from codegen.diff.compare.pointers import property_pointer
from codegen.diff.compare.types import TypeChange, compare_types
from codegen.diff.match import are_similar_names, leniency, meaning_of_field, pair
from codegen.diff.verdict.rules import RULES
from codegen.diff.verdict.verdicts import RISKY, SAFE, Verdicts
from codegen.ir import Field, Model
from codegen.names import words


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
    ) -> None:
        """Add a finding about a property."""
        comparison, field, last = self.comparison, after or before, before or after
        assert field is not None
        assert last is not None
        symbols = [comparison.symbol(self.new.name, field.name), comparison.symbol(self.old.name, last.name)]
        # The messages that are refused have the property's key, unless it is missing in them.
        keys = [side.wire if side and field.required == last.required else "" for side in (before, after)]
        comparison.add(
            rule,
            self.old,
            self.new,
            pointers=(
                property_pointer(comparison.old.raw, self.old.pointer, before.wire) if before else "",
                property_pointer(comparison.new.raw, self.new.pointer, after.wire) if after else "",
            ),
            subject=f"{self.new.name}.{field.wire}",
            symbols=tuple(dict.fromkeys(symbols)),
            texts=texts or (_show_field(before), _show_field(after)),
            verdicts=verdicts,
            sent=(keys[0], keys[1]),
            read=_line_that_reads(self.old, before, after),
        )


def _line_that_reads(model: Model, old: Field | None, new: Field | None) -> str:
    """Return a line of code that reads a property and breaks if the property is gone or has another type."""
    if old is None or (new and old.name == new.name and new.attribute_type.hint in (old.attribute_type.hint, "Any")):
        return ""
    kind = f": {old.attribute_type.hint}" if new and old.name == new.name else ""
    return f"{old.name}{kind} = value.{old.name}  # value: {model.name}"


def compare_models(comparison: Comparison, old: Model, new: Model) -> None:
    """Compare two objects property by property.

    Their own properties are compared, and if they have another base class, those of the bases, too. Tags are compared
    with their union.
    """
    models = ModelComparison(comparison, old, new)
    before, after = ({field.wire: field for field in model.fields} for model in (old, new))
    olds = {field.wire: field for field in comparison.old.schema.fields(old.name)}
    news = {field.wire: field for field in comparison.new.schema.fields(new.name)}
    base = comparison.names.get(old.base) if old.base else None
    if base != new.base or (old.base is None) != (new.base is None):
        comparison.add("definition-base-changed", old, new, texts=(old.base or "", new.base or ""))
        before, after = before | olds, after | news
    removed = {wire: field for wire, field in before.items() if wire not in after and field.tag is None}
    added = {wire: field for wire, field in after.items() if wire not in before and field.tag is None}
    for wire in [wire for wire in (*removed, *added) if wire in olds and wire in news]:
        models.add("property-moved", removed.pop(wire, None), added.pop(wire, None))
        _compare_fields(models, olds[wire], news[wire])
    renamed = _pair_renamed(comparison, removed, added)
    for wire, other in renamed.items():
        models.add(_rule_by_need("property-{}-renamed", removed.pop(wire)), before[wire], added.pop(other))
    for field in removed.values():
        models.add(_rule_by_need("property-{}-removed", field), field, None)
    for field in added.values():
        models.add(_rule_by_need("property-{}-added", field), None, field)
    for wire in [wire for wire in before if wire in after]:
        _compare_fields(models, before[wire], after[wire])
    is_open_member = old.accepts_other_tags or new.accepts_other_tags  # which always allows unknown keys
    if old.is_open != new.is_open and comparison.names.get(old.name) == new.name and not is_open_member:
        texts = _openness(old), _openness(new)
        comparison.add("definition-openness-changed", old, new, texts=texts)


def _openness(model: Model) -> str:
    return "unknown keys: allowed" if model.is_open else "unknown keys: not mentioned"


def _rule_by_need(rule: str, field: Field) -> str:
    return rule.format("required" if field.required else "optional")


def _pair_renamed(comparison: Comparison, removed: dict[str, Field], added: dict[str, Field]) -> dict[str, str]:
    """Pair renamed properties: the same type and requiredness, and the same description or a similar name."""

    def same(old: str, new: str) -> bool:
        before, after = removed[old], added[new]
        if meaning_of_field(before, comparison.names) != meaning_of_field(after, {}):
            return False
        return bool(before.doc and before.doc == after.doc) or are_similar_names(old, new)

    return pair(list(removed), list(added), same)


def _compare_fields(models: ModelComparison, old: Field, new: Field) -> None:
    """Compare one property."""
    if old.tag != new.tag:
        return  # compared with its union
    for change in compare_types(models.comparison, old.type, new.type):
        models.add(change.rule, old, new, (change.before, change.after), _soften(change, old, new))
    if old.required != new.required:
        _compare_need(models, old, new)
    elif not new.required:
        _compare_defaults(models, old, new)
    _compare_leniency(models, old, new)
    if old.deprecated != new.deprecated:
        models.add("property-deprecated", old, new, deprecation_texts(old, new))


def _soften(change: TypeChange, old: Field, new: Field) -> Verdicts:
    """Return the verdicts of a type change, at most risky where invalid values or None as an argument are tolerated."""
    both_lists = all(field.type.non_null.kind == "array" and not field.type.non_null.limits for field in (old, new))
    old_peer, new_peer = (_tolerates_invalid(change, field, both_lists) for field in (old, new))
    verdicts = change.verdicts.softened(old_peer=old_peer, new_peer=new_peer)
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


def _compare_need(models: ModelComparison, old: Field, new: Field) -> None:
    rule = "property-became-required" if new.required else "property-became-optional"
    verdicts, reads_none = RULES[rule].verdicts, new.default is None and not old.type.nullable
    models.add(rule, old, new, verdicts=verdicts if new.required or reads_none else verdicts._replace(read=SAFE))


def _compare_defaults(models: ModelComparison, old: Field, new: Field) -> None:
    before, after = _show_default(old), _show_default(new)
    if before == after:
        return
    what_happened = "added" if not before else "changed" if after else "removed"
    rule = f"property-default-{what_happened}"
    verdicts = RULES[rule].verdicts
    if new.default is not None and what_happened == "removed":
        verdicts = verdicts._replace(read=RISKY)
    models.add(rule, old, new, (before, after), verdicts)


def _show_default(field: Field) -> str:
    return json.dumps(field.default, sort_keys=True) if field.has_default else ""


def _compare_leniency(models: ModelComparison, old: Field, new: Field) -> None:
    before, after = leniency(old), leniency(new)
    for rule, one, other in (("added", after, before), ("removed", before, after)):
        null = "DefaultOnNull" if "DefaultOnError" in other else ""  # null is one of the invalid values
        keywords = [f"x-deserialize-{'-'.join(words(marker))}" for marker in one if marker not in (*other, null)]
        if text := ", ".join(keywords):
            models.add(f"property-leniency-{rule}", old, new, ("", text) if rule == "added" else (text, ""))


def _show_field(field: Field | None) -> str:
    """Return a property with its type; empty if there is none."""
    if field is None:
        return ""
    return f"{field.wire}: {field.type.annotation}{'' if field.required else ' (optional)'}"
