"""Examples of a schema's types: trees of values, which are written both as JSON and as Python.

Everything follows from the types of the fields, except what `choices.toml` chooses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from codegen.diff.match.shapes import Shape, shape_of
from codegen.ir import Alias, Definition, Field, Model, Schema
from codegen.names import words
from codegen.reference.choices import Choices

META = "_meta"
_FORMATS = {"uri": "https://example.com", "date-time": "2026-01-31T12:00:00Z", "base64": "aGVsbG8=", "regex": ".*"}
# The Python types of JSON values, for which a value from `choices.toml` is right.
_FITTING: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "list": (list,),
    "map": (dict,),
    "any": (dict, list, str),
}


@dataclass(frozen=True)
class Value:
    """A value without models in it."""

    json: Any


@dataclass(frozen=True)
class Items:
    """A list."""

    items: tuple[Example, ...]


@dataclass(frozen=True)
class Entries:
    """A mapping."""

    entries: tuple[tuple[str, Example], ...]


@dataclass(frozen=True)
class Object:
    """An instance of a model, with the values of the fields that are not absent."""

    model: str
    fields: tuple[tuple[Field, Example], ...]


Example: TypeAlias = Value | Items | Entries | Object


class Examples:
    """Makes the examples of one schema."""

    def __init__(self, schema: Schema, choices: Choices) -> None:
        self._schema = schema
        self._choices = choices
        self._in_progress: list[str] = []

    def of(self, name: str) -> Example:
        """Return an example of a definition. A model has all its fields, unless the file chooses some."""
        return self._of_definition(self._schema.definitions[name], everything=True)

    def with_path(self, name: str, path: Sequence[str]) -> Object:
        """Return an example of a model with its required fields, and with the field at a path of property names."""
        (key, *rest), model = path, self._schema.model(name)
        values: list[tuple[Field, Example]] = []
        for field in self._schema.fields(name):
            if field.wire == key:
                values.append((field, self._at_path(field, rest)))
            elif field.required:
                values.append((field, self._of_field(model, field)))
        return Object(name, tuple(values))

    def _at_path(self, field: Field, rest: Sequence[str]) -> Example:
        shape = shape_of(field.type.annotation).concrete()
        if rest:
            return self.with_path(shape.name, rest)
        return Value(True) if shape.kind == "boolean" else self._of_shape(shape, field.wire)

    def _of_definition(self, found: Definition, *, everything: bool = False, key: str = "") -> Example:
        if isinstance(found, Model):
            return self._of_model(found, everything)
        if isinstance(found, Alias):
            return self._of_alias(found, key)
        chosen = self._choices.members.get(found.name)
        member = chosen if chosen in self._schema.definitions else found.members[0].name
        return self._of_definition(self._schema.definitions[member], everything=everything)

    def _of_alias(self, alias: Alias, key: str) -> Example:
        if alias.name in self._choices.types:
            return Value(self._choices.types[alias.name])
        return self._of_shape(shape_of(alias.type.annotation), key or words(alias.name)[-1])

    def _of_model(self, model: Model, everything: bool) -> Object:
        shown = self._shown(model)
        fields = [
            each
            for each in self._schema.fields(model.name)
            if each.required or (each.wire in shown if shown is not None else everything and _has_values(each))
        ]
        self._in_progress.append(model.name)
        values = [(each, self._of_field(model, each)) for each in sorted(fields, key=lambda each: each.tag is None)]
        self._in_progress.pop()
        return Object(model.name, tuple(values))

    def _shown(self, model: Model) -> list[str] | None:
        """Return the optional fields that the file chooses for a model or a base of it; None if it doesn't."""
        names = (model.name, *self._schema.bases(model.name))
        return next((self._choices.shown[name] for name in names if name in self._choices.shown), None)

    def _of_field(self, model: Model, field: Field) -> Example:
        if field.tag is not None:
            return Value(field.tag)
        places = [f"{name}.{field.wire}" for name in (model.name, *self._schema.bases(model.name))]
        for place in places:
            if self._has_members(self._choices.members.get(place)):
                return self._chosen_members(self._choices.members[place])
            if place in self._choices.fields:
                return Value(self._choices.fields[place])
        return self._of_shape(shape_of(field.type.annotation), field.wire)

    def _has_members(self, chosen: str | list[str] | dict[str, str] | None) -> bool:
        """Return whether the schema still has the members that the file chooses for a property."""
        names = chosen.values() if isinstance(chosen, dict) else [chosen] if isinstance(chosen, str) else chosen or ()
        return bool(names) and all(name in self._schema.definitions for name in names)

    def _chosen_members(self, chosen: str | list[str] | dict[str, str]) -> Example:
        if isinstance(chosen, str):
            return self._of_definition(self._schema.definitions[chosen])
        if isinstance(chosen, list):
            return Items(tuple(self._chosen_members(each) for each in chosen))
        return Entries(tuple((key, self._chosen_members(each)) for key, each in chosen.items()))

    def _of_shape(self, shape: Shape, key: str) -> Example:
        """Return an example of a type. `key` is the property that it is the type of."""
        shape = shape.concrete()
        if shape.kind == "ref":
            return self._of_definition(self._schema.definitions[shape.name], key=key)
        chosen = self._choices.names.get(key)
        if type(chosen) in _FITTING.get(shape.kind, ()) and not any(True for _ in shape.names()):
            return Value(chosen)
        if shape.kind == "list":
            return self._of_list(shape, key)
        if shape.kind == "union":
            return self._of_shape(shape.parts[0], key)
        return Value(_of_scalar(shape, key))

    def _of_list(self, shape: Shape, key: str) -> Items:
        recursive = self._in_progress and set(shape.names()) & set(self._in_progress)
        return Items(()) if recursive else Items((self._of_shape(shape.parts[0], key),))


def _has_values(field: Field) -> bool:
    """Return whether examples show an optional field: not `_meta`, and not one that can only be null."""
    return field.wire != META and field.type.text != "None"


def _of_scalar(shape: Shape, key: str) -> Any:
    match shape.kind:
        case "literal":
            return shape.values[0]
        case "integer" | "number":
            return max(1, shape.limit("minimum") or 0)
        case "boolean":
            return True
        case "null":
            return None
        case "map" | "any":
            return {}
        case _:
            return _FORMATS.get(shape.limit("format") or "", key)
