"""What changed in an object: its properties, and what it wraps."""

from __future__ import annotations

import json
from dataclasses import dataclass

from codegen.diff.compare.comparison import Comparison
from codegen.diff.compare.pointers import of_property
from codegen.diff.compare.shapes import shape_of
from codegen.diff.compare.types import TypeChange, compare_types
from codegen.diff.match.matching import MARKERS, alike, effective, leniency, meaning_of_field, pair
from codegen.diff.match.moves import Place, moved_from, moved_to
from codegen.diff.verdict.rules import RULES
from codegen.diff.verdict.verdicts import RISKY, SAFE, Verdicts
from codegen.ir import Field, Model, Schema

# The payloads of envelopes: they name every method's params or result, and are found with the methods.
_PAYLOADS = ("params", "result")


@dataclass(frozen=True)
class Models:
    """The two sides of an object."""

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
        place: Place | None = None,
    ) -> None:
        """Note a finding about a property. `place`: where it moved to, or came from, if that is another object."""
        comparison, field, last = self.comparison, after or before, before or after
        assert field is not None
        assert last is not None
        symbols = [comparison.symbol(self.new.name, field.name), comparison.symbol(self.old.name, last.name)]
        symbols += [comparison.symbol(place.model.name, place.field.name)] if place else []
        elsewhere = place.pointer if place else ""
        comparison.add(
            rule,
            self.old,
            self.new,
            old=of_property(comparison.old.raw, self.old.pointer, before.wire) if before else elsewhere,
            new=of_property(comparison.new.raw, self.new.pointer, after.wire) if after else elsewhere,
            subject=f"{self.new.name}.{field.wire}",
            symbols=tuple(dict.fromkeys(symbols)),
            texts=texts or (_shown(before, place), _shown(after, place)),
            verdicts=verdicts,
            moved=place.path if place else "",
        )


def compare_models(comparison: Comparison, old: Model, new: Model) -> None:
    """Everything that changed between two objects, each in the class that has it."""
    models = Models(comparison, old, new)
    before, after = ({each.wire: each for each in model.fields} for model in (old, new))
    if old.name in comparison.envelopes:
        _compare_payloads(models, before, after)
        before, after = (_without_payloads(each) for each in (before, after))
    _compare_bases(models, before, after)
    gone, come = _moved(models, before, after)
    renamed = _renamed(comparison, gone, come)
    for wire, other in renamed.items():
        models.add(_by_need("property-{}-renamed", gone.pop(wire)), before[wire], come.pop(other))
    for field in gone.values():
        models.add(_by_need("property-{}-removed", field), field, None, place=moved_to(comparison, new, field))
    for field in come.values():
        models.add(_by_need("property-{}-added", field), None, field, place=moved_from(comparison, old, field))
    for wire in [wire for wire in before if wire in after]:
        _compare_fields(models, before[wire], after[wire])
    if old.is_open != new.is_open and comparison.names.get(old.name) == new.name and not _is_other(old, new):
        texts = _openness(old), _openness(new)
        comparison.add("definition-openness-changed", old, new, old=old.pointer, new=new.pointer, texts=texts)


def _openness(model: Model) -> str:
    return "unknown keys: allowed" if model.is_open else "unknown keys: not mentioned"


def _compare_payloads(models: Models, before: dict[str, Field], after: dict[str, Field]) -> None:
    """What a message carries beside the payloads of methods."""
    for wire in _PAYLOADS:
        if wire not in before or wire not in after:
            continue
        olds = _beside_methods(models.comparison.old.schema, before[wire])
        news = _beside_methods(models.comparison.new.schema, after[wire])
        if olds != news:
            models.add("message-changed", before[wire], after[wire], (", ".join(sorted(olds)), ", ".join(sorted(news))))


def _beside_methods(schema: Schema, field: Field) -> set[str]:
    payloads = {name for method in schema.methods for name in (method.params, method.result)}
    shape = shape_of(field.type.annotation)
    return {part.name or part.kind for part in shape.parts or (shape,)} - payloads


def _without_payloads(fields: dict[str, Field]) -> dict[str, Field]:
    return {wire: each for wire, each in fields.items() if wire not in _PAYLOADS}


def _is_other(*models: Model) -> bool:
    """Whether it is the open member of a union: that it takes other keys is no news of its own."""
    return any(marker.startswith("OtherThan") for model in models for field in model.fields for marker in field.markers)


def _by_need(rule: str, field: Field) -> str:
    return rule.format("required" if field.required else "optional")


def _compare_bases(models: Models, before: dict[str, Field], after: dict[str, Field]) -> None:
    """What a class derives from. The properties that come or go with it join those of its own."""
    comparison, old, new = models.comparison, models.old, models.new
    base = comparison.names.get(old.base) if old.base else None
    if base == new.base and (old.base is None) == (new.base is None):
        return
    comparison.add(
        "definition-base-changed", old, new, old=old.pointer, new=new.pointer, texts=(old.base or "", new.base or "")
    )
    olds, news = effective(comparison.old.schema, old), effective(comparison.new.schema, new)
    before.update({wire: field for wire, field in olds.items() if wire not in before})
    after.update({wire: field for wire, field in news.items() if wire not in after})


def _moved(
    models: Models, before: dict[str, Field], after: dict[str, Field]
) -> tuple[dict[str, Field], dict[str, Field]]:
    """The properties that went and came, without those that only stand in another class of the same object.

    Tags are left out: their union says what became of them.
    """
    comparison = models.comparison
    gone = {wire: field for wire, field in before.items() if wire not in after and field.tag is None}
    come = {wire: field for wire, field in after.items() if wire not in before and field.tag is None}
    olds, news = effective(comparison.old.schema, models.old), effective(comparison.new.schema, models.new)
    for wire in [wire for wire in gone if wire in news]:
        models.add("property-moved", gone[wire], None)
        _compare_fields(models, gone.pop(wire), news[wire])
    for wire in [wire for wire in come if wire in olds]:
        models.add("property-moved", None, come[wire])
        _compare_fields(models, olds[wire], come.pop(wire))
    return gone, come


def _renamed(comparison: Comparison, gone: dict[str, Field], come: dict[str, Field]) -> dict[str, str]:
    """Properties that mean the same under another name: the same type and need, and the same words or a name alike."""

    def same(old: str, new: str) -> bool:
        before, after = gone[old], come[new]
        if meaning_of_field(before, comparison.names) != meaning_of_field(after, {}):
            return False
        return bool(before.doc and before.doc == after.doc) or alike(old, new)

    return pair(list(gone), list(come), same)


def _compare_fields(models: Models, old: Field, new: Field) -> None:
    """Everything that changed in one property."""
    if old.tag != new.tag:
        return  # its union says so
    for change in compare_types(models.comparison, old.type, new.type):
        models.add(change.rule, old, new, (change.before, change.after), _softened(change, old, new))
    if old.required != new.required:
        _compare_need(models, old, new)
    elif not new.required:
        _compare_defaults(models, old, new)
    _compare_leniency(models, old, new)


def _softened(change: TypeChange, old: Field, new: Field) -> Verdicts:
    """A type's change in a property that lets bad values give way is risky, not breaking, for who reads it."""
    return change.verdicts.softened(old_peer=_gives_way(change, old), new_peer=_gives_way(change, new))


def _gives_way(change: TypeChange, reader: Field) -> bool:
    """Whether a bad value gives way: any, a null, or items of what stays a list."""
    if "DefaultOnError" in reader.markers:
        return True
    if change.rule.startswith("nullable"):
        return "DefaultOnNull" in reader.markers
    both_lists = all(text.startswith("list[") for text in (change.before, change.after))
    return "SkipInvalidItems" in reader.markers and both_lists


def _compare_need(models: Models, old: Field, new: Field) -> None:
    if new.required:
        models.add("property-became-required", old, new)
        return
    reads_none = new.default == "None" and not old.type.nullable
    letters = "BSSBS" if reads_none else "BSSSS"
    models.add("property-became-optional", old, new, verdicts=Verdicts.of(letters))


def _compare_defaults(models: Models, old: Field, new: Field) -> None:
    before, after = _default(old), _default(new)
    if before == after:
        return
    how = "added" if not before else "changed" if after else "removed"
    rule = f"property-default-{how}"
    verdicts = RULES[rule].verdicts
    if new.default != "None" and how == "removed":
        verdicts = Verdicts(verdicts.old_peer, verdicts.new_peer, SAFE, RISKY)
    models.add(rule, old, new, (before, after), verdicts)


def _default(field: Field) -> str:
    return json.dumps(field.default_json, sort_keys=True) if field.has_default else ""


def _compare_leniency(models: Models, old: Field, new: Field) -> None:
    before, after = leniency(old), leniency(new)
    for marker in after:
        if marker not in before:
            models.add("property-leniency-added", old, new, ("", MARKERS[marker]))
    for marker in before:
        if marker not in after:
            models.add("property-leniency-removed", old, new, (MARKERS[marker], ""))


def _shown(field: Field | None, place: Place | None = None) -> str:
    """A property with its type; the one at another place if there is none here."""
    if field is None:
        return _declared(place.path, place.field) if place else ""
    return _declared(field.wire, field)


def _declared(name: str, field: Field) -> str:
    need = "" if field.required else " (optional)"
    return f"{name}: {field.type.annotation}{need}"
