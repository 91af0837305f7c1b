"""Turns the JSON defaults of fields into Python source."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from codegen.errors import SchemaError
from codegen.ir import Alias, Field, Model, Schema
from codegen.nodes import is_array, is_object
from codegen.read.types import quoted


def fill_defaults(schema: Schema) -> None:
    """Set the Python source of every field's default: a literal, or a factory for objects and arrays."""
    for definition in list(schema.definitions.values()):
        if isinstance(definition, Model):
            fields = tuple(_with_source(schema, definition, field) for field in definition.fields)
            schema.definitions[definition.name] = replace(definition, fields=fields)


def _with_source(schema: Schema, model: Model, field: Field) -> Field:
    if not field.has_default:
        return field
    source = _source(schema, field, field.default_json, f"{model.pointer}/properties/{field.wire}/default")
    if isinstance(field.default_json, (dict, list)):
        source = f"default_factory=lambda: {source}"
    return replace(field, default=source)


def _source(schema: Schema, field: Field, value: Any, pointer: str) -> str:
    """Return the value of a field as Python source."""
    if is_array(value) or (is_object(value) and field.type.kind == "map"):
        if value:
            raise SchemaError(pointer, "There is no rule for a default with items.")
        return "[]" if is_array(value) else "{}"
    if is_object(value):
        return _model_source(schema, field.type.text, value, pointer)
    _check_scalar(schema, field, value, pointer)
    return quoted(value)


def _model_source(schema: Schema, name: str, value: dict[str, Any], pointer: str) -> str:
    """Return a call of a model's constructor with every key of the default, so that it dumps as upstream wrote it."""
    if not isinstance(schema.definitions.get(name), Model):
        raise SchemaError(pointer, f"There is no rule for an object as the default of {name}, which is not a model.")
    fields = {field.wire: field for field in schema.fields(name)}
    arguments: list[str] = []
    for key, item in value.items():
        field = fields.get(key)
        if field is None:
            raise SchemaError(f"{pointer}/{key}", f"The default has the key {key!r}, which {name} doesn't have.")
        arguments.append(f"{field.name}={_source(schema, field, item, f'{pointer}/{key}')}")
    return f"{name}({', '.join(arguments)})"


def _check_scalar(schema: Schema, field: Field, value: Any, pointer: str) -> None:
    """Stop the generator if a default is not a value of its field's type."""
    kinds: dict[str, type[Any]] = {"bool": bool, "str": str, "int": int, "Double": float}
    text = field.type.text
    while isinstance(alias := schema.definitions.get(text), Alias):
        text = alias.type.text
    fits = quoted(value) in text if text.startswith("Literal[") else isinstance(value, kinds.get(text, object))
    if not fits and not (value is None and field.type.nullable):
        raise SchemaError(pointer, f"The default {value!r} is not of the property's type, {text}.")
