"""Checks the defaults of fields, and writes those that are objects or arrays as functions that make them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from codegen.errors import SchemaError
from codegen.escaping import quoted
from codegen.ir import Field, Model, Schema
from codegen.nodes import is_object
from codegen.types import Type
from codegen.values import fits


def fill_defaults(schema: Schema) -> None:
    """Check every default, and set the factory of those that are objects or arrays."""
    for definition in list(schema.definitions.values()):
        if isinstance(definition, Model):
            fields = tuple(_with_factory(schema, definition, field) for field in definition.fields)
            schema.definitions[definition.name] = replace(definition, fields=fields)


def _with_factory(schema: Schema, model: Model, field: Field) -> Field:
    if not field.has_default:
        return field
    source = _source(schema, field, field.absent, f"{model.pointer}/properties/{field.wire}/default")
    return replace(field, factory=f"lambda: {source}" if isinstance(field.absent, (dict, list)) else "")


def _source(schema: Schema, field: Field, value: Any, pointer: str) -> str:
    """Return the value of a field as Python source."""
    if is_object(value) and field.type.kind != "map":
        return _model_source(schema, field.type.concrete, value, pointer)
    if value and isinstance(value, (dict, list)):
        raise SchemaError(pointer, "There is no rule for a default with items.")
    if not fits(schema, value, field.type):
        raise SchemaError(pointer, f"The default {value!r} is not of the property's type, {field.type.annotation}.")
    return quoted(value)


def _model_source(schema: Schema, kind: Type, value: dict[str, Any], pointer: str) -> str:
    """Return a call of a model's constructor with every key of the default, so that it dumps as upstream wrote it."""
    name = kind.annotation
    if not isinstance(schema.definitions.get(kind.name), Model):
        raise SchemaError(pointer, f"There is no rule for an object as the default of {name}, which is not a model.")
    fields = {field.wire: field for field in schema.fields(name)}
    arguments: list[str] = []
    for key, item in value.items():
        field = fields.get(key)
        if field is None:
            raise SchemaError(f"{pointer}/{key}", f"The default has the key {key!r}, which {name} doesn't have.")
        arguments.append(f"{field.name}={_source(schema, field, item, f'{pointer}/{key}')}")
    return f"{name}({', '.join(arguments)})"
