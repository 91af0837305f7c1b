"""Examples of a schema's types, which are written both as JSON and as Python.

Everything follows from the types of the fields, except what `choices.toml` chooses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from codegen.ir import Alias, Definition, Field, Model, Schema
from codegen.names import words
from codegen.read.resolve import ADVERTISED_IN
from codegen.reference.choices import Choices
from codegen.types import NULL, Type
from codegen.values import fits

META = "_meta"
_FORMATS = {"uri": "https://example.com", "date-time": "2026-01-31T12:00:00Z", "base64": "aGVsbG8=", "regex": ".*"}


@dataclass(frozen=True)
class Object:
    """An instance of a model, with the values of the fields that are not absent."""

    model: str
    fields: tuple[tuple[Field, Example], ...]


# JSON, with an `Object` wherever a model is.
Example: TypeAlias = "Object | str | float | list[Example] | dict[str, Example] | None"


class Examples:
    """Makes the examples of one schema."""

    def __init__(self, schema: Schema, choices: Choices) -> None:
        self._schema = schema
        self._choices = choices
        self._in_progress: list[str] = []
        self._advertised = set(_capabilities(schema))

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
        shape = field.type.concrete
        if rest:
            return self.with_path(shape.name, rest)
        return True if shape.kind == "boolean" else self._of_shape(shape, field.wire)

    def _of_definition(self, found: Definition, *, everything: bool = False, key: str = "") -> Example:
        if isinstance(found, Model):
            return self._of_model(found, everything)
        if isinstance(found, Alias):
            return self._of_alias(found, key)
        chosen = self._choices.members.get(found.name)
        member = chosen if chosen in self._schema.definitions else found.members[0].name
        return self._of_definition(self._schema.definitions[member], everything=everything)

    def _of_alias(self, alias: Alias, key: str) -> Example:
        shape, chosen = alias.type, self._choices.types.get(alias.name)
        return chosen if self._fits(shape, chosen) else self._of_shape(shape, key or words(alias.name)[-1])

    def _of_model(self, model: Model, everything: bool) -> Object:
        shown = self._shown(model)
        fields = [
            each
            for each in self._schema.fields(model.name)
            if each.required
            or (model.name, each.wire) in self._advertised
            or (each.wire in shown if shown is not None else everything and _has_values(each))
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
            return field.tag
        shape = field.type
        places = [f"{name}.{field.wire}" for name in (model.name, *self._schema.bases(model.name))]
        for place in places:
            if self._has_members(self._choices.members.get(place)):
                return self._chosen_members(self._choices.members[place])
            chosen = self._choices.fields.get(place)
            if self._fits(shape, chosen):
                return chosen
        return self._of_shape(shape, field.wire)

    def _fits(self, shape: Type, value: Any) -> bool:
        """Return whether a value from the file, if there is one, is still right for a type."""
        return value is not None and fits(self._schema, value, shape)

    def _has_members(self, chosen: str | list[str] | dict[str, str] | None) -> bool:
        """Return whether the schema still has the members that the file chooses for a property."""
        names = chosen.values() if isinstance(chosen, dict) else [chosen] if isinstance(chosen, str) else chosen or ()
        return bool(names) and all(name in self._schema.definitions for name in names)

    def _chosen_members(self, chosen: str | list[str] | dict[str, str]) -> Example:
        if isinstance(chosen, str):
            return self._of_definition(self._schema.definitions[chosen])
        if isinstance(chosen, list):
            return list(map(self._chosen_members, chosen))
        return {key: self._chosen_members(each) for key, each in chosen.items()}

    def _of_shape(self, shape: Type, key: str) -> Example:
        """Return an example of a type. `key` is the property that it is the type of."""
        shape = shape.concrete
        if shape.kind == "ref":
            return self._of_definition(self._schema.definitions[shape.name], key=key)
        chosen = self._choices.names.get(key)
        if self._fits(shape, chosen) and not shape.names:
            return chosen
        if shape.kind == "array":
            return self._of_list(shape, key)
        if shape.kind == "union":
            return self._of_shape(shape.parts[0], key)
        found: Example = _of_scalar(shape, key)
        return found

    def _of_list(self, shape: Type, key: str) -> list[Example]:
        recursive = self._in_progress and set(shape.names).intersection(self._in_progress)
        return [] if recursive else [self._of_shape(shape.parts[0], key)]


def _capabilities(schema: Schema) -> Iterator[tuple[str, str]]:
    """Yield the properties on the path to each capability that a method needs: all examples advertise them."""
    for method in schema.methods:
        name = ADVERTISED_IN.get(method.side, "")
        for step in method.capability.split(".") if method.capability else ():
            yield name, step
            name = next((other for each in schema.fields(name) if each.wire == step for other in each.type.names), "")


def _has_values(field: Field) -> bool:
    """Return whether examples show an optional field: not `_meta`, and not one that can only be null."""
    return field.wire != META and field.type != NULL


def _of_scalar(shape: Type, key: str) -> Any:
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
            return _FORMATS.get(shape.format, key)
