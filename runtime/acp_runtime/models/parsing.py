"""Parses models from JSON, with the schema that pydantic makes for a class and the JSON side of each generated field.

Fields that a user declares keep pydantic's schema, except that a default of `None` isn't dumped.
"""

from __future__ import annotations

from typing import Any

from acp_runtime.models import older_pydantic
from acp_runtime.models.fail_fast import stop_at_first_error
from acp_runtime.models.generated import is_generated_field
from acp_runtime.models.optional import is_optional, optional_json_field, required_json_field
from acp_runtime.models.pydantic_internals import Schema, fields_of, model_of
from acp_runtime.models.schema_sides import json_side

_METADATA = {"acp": "JSON side"}


def use_json_side(cls: Any, schema: Schema) -> None:
    """Change the fields in the schema of a class, unless they were changed before."""
    model, fields = model_of(schema), fields_of(schema)
    if model is None or fields is None or uses_json_side(fields):
        return
    model["custom_init"] = not getattr(cls.__init__, "__pydantic_base_init__", False)
    for name, field in fields["fields"].items():
        if is_generated_field(cls, name):
            stop_at_first_error(field["schema"])
            field["schema"] = _json_field(json_side(field["schema"]))
        elif defaults_to_none(cls, name):
            field["schema"] = _json_field(field["schema"])
    fields["metadata"] = _METADATA
    older_pydantic.keep_keys_named_like_fields(fields)


def _json_field(schema: Schema) -> Schema:
    return optional_json_field(schema) if is_optional(schema) else required_json_field(schema)


def uses_json_side(fields: Schema) -> bool:
    """Return whether fields were changed by `use_json_side`. pydantic may return a schema that it made before."""
    return bool(fields.get("metadata") == _METADATA)


def defaults_to_none(cls: Any, name: str) -> bool:
    """Return whether a field that isn't given is absent and reads as `None`."""
    field = cls.__pydantic_fields__[name]
    return field.default is None and field.default_factory is None and not field.validate_default
