"""Makes examples of a schema's types, and writes them as JSON and as Python.

Values follow from the types, except for those in `choices.toml`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass as pydantic_dataclass

from codegen.data.resolve import ADVERTISED_IN
from codegen.ir import Alias, Definition, Field, Model, Schema
from codegen.names import words
from codegen.nodes import is_array, is_object
from codegen.toml import parse_toml, read_file, validate
from codegen.types import NULL, Type
from codegen.values import fits

META = "_meta"
CHOICES_TOML = Path(__file__).with_name("choices.toml")
_FILE = "codegen/reference/choices.toml"
_WIDTH = 72
_FORMATS = {"uri": "https://example.com", "date-time": "2026-01-31T12:00:00Z", "base64": "aGVsbG8=", "regex": ".*"}


@pydantic_dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Choices:
    """The content of `choices.toml`, which explains its tables."""

    names: dict[str, Any]
    types: dict[str, Any]
    fields: dict[str, Any]
    members: dict[str, Any]
    shown: dict[str, list[str]]


@cache
def read_choices() -> Choices:
    """Return the content of `choices.toml`.

    Raises:
        FileError: it is not TOML, or a table is missing or unknown.
    """
    return validate(Choices, parse_toml(read_file(CHOICES_TOML, _FILE), _FILE), _FILE)


@dataclass(frozen=True)
class Object:
    """An instance of a model: the fields that it has, with their values."""

    model: str
    fields: tuple[tuple[Field, Example], ...]


# JSON, with an `Object` for each model.
Example: TypeAlias = "Object | str | float | list[Example] | dict[str, Example] | None"


class Examples:
    """Makes the examples of one schema."""

    def __init__(self, schema: Schema, choices: Choices) -> None:
        self._schema = schema
        self._choices = choices
        self._in_progress: list[str] = []
        self._advertised = set(_find_advertised(schema))

    def make(self, name: str) -> Example:
        """Return an example of a definition. A model has all its fields, unless `choices.toml` lists some."""
        return self._make_for_definition(self._schema.definitions[name], everything=True)

    def _make_for_definition(self, definition: Definition, *, everything: bool = False, key: str = "") -> Example:
        if isinstance(definition, Model):
            return self._make_for_model(definition, everything)
        if isinstance(definition, Alias):
            return self._make_for_alias(definition, key)
        chosen = self._choices.members.get(definition.name)
        member = chosen if chosen in self._schema.definitions else definition.members[0].name
        return self._make_for_definition(self._schema.definitions[member], everything=everything)

    def _make_for_alias(self, alias: Alias, key: str) -> Example:
        chosen = self._choices.types.get(alias.name)
        return (
            chosen
            if self._is_valid(alias.type, chosen)
            else self._make_for_type(alias.type, key or words(alias.name)[-1])
        )

    def _make_for_model(self, model: Model, everything: bool) -> Object:
        names = (model.name, *self._schema.bases(model.name))
        shown = next((self._choices.shown[name] for name in names if name in self._choices.shown), None)

        def is_shown(field: Field) -> bool:
            if field.required or (model.name, field.wire) in self._advertised:
                return True
            if shown is not None:
                return field.wire in shown
            return everything and field.wire != META and field.type != NULL

        fields = [field for field in self._schema.fields(model.name) if is_shown(field)]
        self._in_progress.append(model.name)
        tag_first = sorted(fields, key=lambda field: field.tag is None)
        values = [(field, self._make_for_field(model, field)) for field in tag_first]
        self._in_progress.pop()
        return Object(model.name, tuple(values))

    def _make_for_field(self, model: Model, field: Field) -> Example:
        if field.tag is not None:
            return field.tag
        type_ = field.type
        places = [f"{name}.{field.wire}" for name in (model.name, *self._schema.bases(model.name))]
        for place in places:
            if members := self._make_for_members(self._choices.members.get(place)):
                return members
            chosen = self._choices.fields.get(place)
            if self._is_valid(type_, chosen):
                return chosen
        return self._make_for_type(type_, field.wire)

    def _is_valid(self, type_: Type, value: Any) -> bool:
        """Return whether `choices.toml` has a value, and the value is valid for the type."""
        return value is not None and fits(self._schema, value, type_)

    def _make_for_members(self, chosen: list[str] | dict[str, str] | None) -> Example:
        """Return examples of the members that `choices.toml` lists for a property; None if the schema lacks one."""
        names = chosen.values() if isinstance(chosen, dict) else chosen or ()
        if not names or any(name not in self._schema.definitions for name in names):
            return None
        examples = [self._make_for_definition(self._schema.definitions[name]) for name in names]
        return dict(zip(chosen, examples, strict=True)) if isinstance(chosen, dict) else examples

    def _make_for_type(self, type_: Type, key: str) -> Example:
        """Return an example of a property's type. `key` is the property's name."""
        type_ = type_.non_null
        if type_.kind == "ref":
            return self._make_for_definition(self._schema.definitions[type_.name], key=key)
        chosen = self._choices.names.get(key)
        if self._is_valid(type_, chosen) and not type_.names:
            return chosen
        if type_.kind == "array":
            return (
                [] if set(type_.names).intersection(self._in_progress) else [self._make_for_type(type_.parts[0], key)]
            )
        if type_.kind == "union":
            return self._make_for_type(type_.parts[0], key)
        scalar: Example = _make_scalar(type_, key)
        return scalar


def _find_advertised(schema: Schema) -> Iterator[tuple[str, str]]:
    """Yield the properties on the paths of all capabilities that methods need. Every example advertises them."""
    for method in schema.methods:
        name = ADVERTISED_IN.get(method.side, "")
        for step in method.capability.split(".") if method.capability else ():
            yield name, step
            name = next(
                (other for field in schema.fields(name) if field.wire == step for other in field.type.names), ""
            )


def _make_scalar(type_: Type, key: str) -> Any:
    if type_.values:
        return type_.values[0]
    number = max(1, type_.limit("minimum") or 0)
    others: dict[str, Any] = {"integer": number, "number": number, "boolean": True, "null": None, "map": {}, "any": {}}
    return others[type_.kind] if type_.kind in others else _FORMATS.get(type_.format, key)


def to_json(example: Example) -> Any:
    """Return an example as JSON."""
    match example:
        case Object(fields=fields):
            return {field.wire: to_json(item) for field, item in fields}
        case list(items):
            return [to_json(item) for item in items]
        case dict(entries):
            return {key: to_json(item) for key, item in entries.items()}
        case value:
            return value


def format_json(value: Any, indent: int = 0, used: int = 0) -> str:
    """Return JSON as text. Lists and objects are on one line if they fit after an indentation and `used` characters."""
    line = json.dumps(value)
    if indent + used + len(line) <= _WIDTH:
        return line
    if is_object(value):
        items = [f'"{key}": {format_json(item, indent + 2, len(key) + 4)}' for key, item in value.items()]
    elif is_array(value):
        items = [format_json(item, indent + 2) for item in value]
    else:
        return line
    first, last, inside = line[0], line[-1], " " * (indent + 2)
    lines = f",\n{inside}".join(items)
    return f"{first}\n{inside}{lines}\n{' ' * indent}{last}"


def to_python(example: Example, prefix: str = "") -> str:
    """Return an unformatted expression for an example, with a prefix before the names of models."""
    match example:
        case Object(model=model, fields=fields):
            return f"{prefix}{model}({write_keywords([item for item in fields if item[0].tag is None], prefix)})"
        case list(items):
            return f"[{', '.join(to_python(item, prefix) for item in items)}]"
        case dict(entries):
            return f"{{{', '.join(f'{key!r}: {to_python(item, prefix)}' for key, item in entries.items())}}}"
        case value:
            return repr(value)


def write_keywords(fields: list[tuple[Field, Example]], prefix: str = "") -> str:
    """Return the keyword arguments for fields."""
    return ", ".join(f"{field.name}={to_python(example, prefix)}" for field, example in fields)
