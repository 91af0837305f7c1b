"""How models are parsed: by the schema that pydantic makes of a class, with each field as it is on the wire.

What the author of a subclass declares stays as pydantic has it, except that a default of `None` is not dumped.
"""

from __future__ import annotations

from typing import Any

from acp_runtime.models import older_pydantic
from acp_runtime.models.fail_fast import stop_at_first_error
from acp_runtime.models.generated import is_generated_field
from acp_runtime.models.optional import is_optional, optional_on_the_wire, required_on_the_wire
from acp_runtime.models.pydantic_internals import Schema, fields_of, model_of
from acp_runtime.models.schema_sides import json_side

_METADATA = {"acp": "as on the wire"}


def use_json_side(cls: Any, schema: Schema) -> None:
    """Change the fields in the schema of a class. One that was changed before is left alone."""
    model, fields = model_of(schema), fields_of(schema)
    if model is None or fields is None or uses_json_side(fields):
        return
    model["custom_init"] = not getattr(cls.__init__, "__pydantic_base_init__", False)
    for name, field in fields["fields"].items():
        if is_generated_field(cls, name):
            stop_at_first_error(field["schema"])
            field["schema"] = _on_the_wire(json_side(field["schema"]))
        elif defaults_to_none(cls, name):
            field["schema"] = _on_the_wire(field["schema"])
    fields["metadata"] = _METADATA
    older_pydantic.keep_keys_named_like_fields(fields)


def _on_the_wire(schema: Schema) -> Schema:
    return optional_on_the_wire(schema) if is_optional(schema) else required_on_the_wire(schema)


def uses_json_side(fields: Schema) -> bool:
    """Whether fields were changed by `use_json_side`: pydantic hands out schemas that it has kept."""
    return bool(fields.get("metadata") == _METADATA)


def defaults_to_none(cls: Any, name: str) -> bool:
    """Whether a field that isn't given reads as `None` and is absent."""
    field = cls.__pydantic_fields__[name]
    return field.default is None and field.default_factory is None and not field.validate_default
