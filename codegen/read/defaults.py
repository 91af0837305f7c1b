"""Checks the defaults of fields, and writes the factories of mutable ones."""

from __future__ import annotations

from dataclasses import replace

from codegen.errors import SchemaError
from codegen.ir import Field, Model, Schema
from codegen.values import fits, python_source


def fill_defaults(schema: Schema) -> None:
    """Check every default, and set the factory of defaults that are objects or arrays."""
    for definition in list(schema.definitions.values()):
        if isinstance(definition, Model):
            fields = tuple(_check_default(schema, definition, field) for field in definition.fields)
            schema.definitions[definition.name] = replace(definition, fields=fields)


def _check_default(schema: Schema, model: Model, field: Field) -> Field:
    if not field.has_default:
        return field
    if not fits(schema, field.default, field.type, strict=True):
        pointer = f"{model.pointer}/properties/{field.wire}/default"
        raise SchemaError(
            pointer, f"The default {field.default!r} is not of the property's type, {field.type.annotation}."
        )
    is_mutable = isinstance(field.default, (dict, list))
    return replace(field, factory=f"lambda: {python_source(schema, field.default, field.type)}" if is_mutable else "")
