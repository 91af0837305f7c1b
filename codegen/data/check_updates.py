"""Checks that what `methods.toml` says about the kinds of updates fits the types in a schema, and each other."""

from __future__ import annotations

from collections.abc import Iterator

from codegen.data.resolve import fields_by_wire
from codegen.data.updates import find_fields, find_kinds
from codegen.facts import Effect
from codegen.ir import Alias, Schema
from codegen.types import Type
from codegen.values import fits


def find_mistake(schema: Schema) -> tuple[str, str] | None:
    """Return the first kind whose entry has a mistake, and a sentence. The schema must have all names in entries."""
    kinds = find_kinds(schema)
    kept_as = {
        effect.entry["changes"]: dict(effect.arguments)["model"]
        for effect in schema.effects.values()
        if "model" in dict(effect.arguments)
    }
    setters: dict[str, str] = {}
    for kind, effect in schema.effects.items():
        for sentence in (
            *_check_id(schema, kinds[kind], effect),
            *_check_appended(schema, kinds[kind], effect, kept_as),
            *_check_new(schema, effect, kept_as),
            *_check_values(kind, effect, setters),
        ):
            return kind, sentence
    return None


def _check_id(schema: Schema, definition: str, effect: Effect) -> Iterator[str]:
    """Check that an id is a text that each update has. Parts of messages may lack it."""
    if path := effect.entry.get("id"):
        fields = find_fields(schema, definition, path)
        is_part = "says" in effect.entry and "appends" in effect.entry
        if not is_part and not all(field.required and not field.type.nullable for field in fields):
            yield f"`id` names {path!r}, which may be missing or null."
        if _expand(schema, fields[-1].type).kind != "string":
            yield f"`id` names {path!r}, which is not a text."


def _check_appended(schema: Schema, definition: str, effect: Effect, kept_as: dict[str, str]) -> Iterator[str]:
    """Check that a block of content is appended, or an item to a list, or base64 to base64."""
    entry = effect.entry
    if path := entry.get("appends"):
        appended = find_fields(schema, definition, path)[-1].type
        if "says" in entry:
            if appended.kind != "ref" or isinstance(schema.definitions[appended.name], Alias):
                yield f"`appends` names {path!r}, which is not a block of content."
            return
        to = entry.get("to", path)
        target = _expand(schema, find_fields(schema, kept_as[entry["changes"]], to)[-1].type)
        is_item = target.kind == "array" and target.parts[0] == appended
        if not is_item and not target.format == _expand(schema, appended).format == "base64":
            yield f"{path!r} can't be appended to {to!r}: that is not a list of it, nor are both base64."
        others = [other.entry for other in schema.effects.values() if other.entry.get("changes") == entry["changes"]]
        for other in others:
            if (other_to := other.get("to", other.get("appends", to))) != to:
                yield f"It appends to {to!r}, but another kind to {other_to!r}. A thing has only one such property."


def _check_new(schema: Schema, effect: Effect, kept_as: dict[str, str]) -> Iterator[str]:
    """Check the values of a new thing: that only one kind has them, and that they and an id make a valid thing."""
    entry = effect.entry
    new, thing = entry.get("new", {}), entry.get("changes", "")
    model = dict(effect.arguments).get("model")
    if "new" in entry and model is None:
        yield f"Another kind has `new` for {thing!r}, too."
    elif model is not None:
        fields = fields_by_wire(schema, model)
        for wire, value in new.items():
            if wire == entry["id"] or fields[wire].tag is not None:
                yield f"`new` names {wire!r}, which each update has anyway."
            if not fits(schema, value, fields[wire].type):
                yield f"`new` has an invalid value for {wire!r}, {value!r}."
        others = [other for other in schema.effects.values() if other.entry.get("changes") == thing]
        if len(others) > 1:  # one of the others may be the first
            required = [wire for wire, field in fields.items() if field.required and field.tag is None]
            for wire in required:
                if wire != entry["id"] and wire not in new:
                    yield f"`new` needs a value for {wire!r}, which is required."


def _check_values(kind: str, effect: Effect, setters: dict[str, str]) -> Iterator[str]:
    """Check that no other kind sets a value, because each kind keeps its last update."""
    for name in effect.entry.get("sets", ()):
        if setters.setdefault(name, kind) != kind:
            yield f"`sets` has {name!r}, which {setters[name]!r} sets, too."


def _expand(schema: Schema, type_: Type) -> Type:
    """Return a type without null, and without names for other types."""
    definition = schema.definitions.get(type_.non_null.name)
    return _expand(schema, definition.type) if isinstance(definition, Alias) else type_.non_null
