"""Workarounds for pydantic before 2.14.2. Delete them, with all references, once pyproject.toml requires 2.14.2."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from pydantic import VERSION
from pydantic_core import core_schema
from pydantic_core.core_schema import CoreSchema

from acp_runtime.models.union_members import as_declared, models_in

if TYPE_CHECKING:
    MISSING: Any
else:
    try:
        from pydantic import MISSING
    except ImportError:  # before 2.14
        from pydantic.experimental.missing_sentinel import MISSING

__all__ = ["CAN_DEFER", "LOSES_EXTRA", "MISSING", "dumped_as_declared", "keep_keys_named_like_fields"]

_version = tuple(map(int, re.findall(r"\d+", VERSION)[:3]))

# Before 2.14, pydantic-core can't dump a model in a field if the class of that model is deferred.
CAN_DEFER = _version >= (2, 14)

# Before 2.13, an instance that was built without extra values isn't equal to one that was parsed without any.
LOSES_EXTRA = _version < (2, 13)

# From 2.13.0 to 2.14.1, a JSON key that equals the name of a field instead of its alias (`mime_type`) is dropped.
_DROPS_KEYS = (2, 13) <= _version < (2, 14, 2)


def dumped_as_declared(schema: Any, union: Any) -> CoreSchema:
    """Let a union dump an instance of a subclass as the declared class. Otherwise, all its fields would be dumped."""
    if _version >= (2, 14, 2):
        return cast("CoreSchema", schema)
    classes = tuple(models_in(union))

    def dump(value: Any, handler: Any) -> Any:
        return handler(as_declared(value, classes))

    return {**schema, "serialization": core_schema.wrap_serializer_function_ser_schema(dump)}


def keep_keys_named_like_fields(model: Any) -> None:
    """Catch each such key with a field of its own, and move the value to the unknown keys."""
    while model["type"] != "model":  # inside a user's validators
        model = model["schema"]
    fields = model["schema"].get("fields", {})
    aliases = {field.get("validation_alias", name) for name, field in fields.items()}
    names = fields.keys() - aliases
    if not _DROPS_KEYS or not names:
        return
    anything = core_schema.with_default_schema(core_schema.any_schema(), default=MISSING)
    caught = {f"\0{name}": core_schema.model_field(anything, validation_alias=name, serialization_exclude=True) for name in names}
    model["schema"] = core_schema.no_info_after_validator_function(
        partial(_move_to_extra, names), {**model["schema"], "fields": {**fields, **caught}}
    )


def _move_to_extra(names: set[str], parsed: Any) -> Any:
    values, extra, given = parsed
    for name in names:
        value = values.pop(f"\0{name}")
        if f"\0{name}" in given:
            given.discard(f"\0{name}")
            given.add(name)
            extra[name] = value
    return parsed
