"""Workarounds for pydantic before 2.14.2. Delete them, with all references, once pyproject.toml requires 2.14.2."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

from pydantic import VERSION
from pydantic_core import PydanticSerializationUnexpectedValue, core_schema
from pydantic_core.core_schema import CoreSchema

from acp_runtime.models.union_members import as_declared, concrete_models, members_of

if TYPE_CHECKING:
    MISSING: Any
else:
    try:
        from pydantic import MISSING
    except ImportError:  # before 2.14
        from pydantic.experimental.missing_sentinel import MISSING

__all__ = ["CAN_DEFER", "MISSING", "dumpable", "keep_keys_named_like_fields"]

_version = tuple(map(int, re.findall(r"\d+", VERSION)[:3]))

# Before 2.14, pydantic-core can't dump a model in a field if the class of that model is deferred.
CAN_DEFER = _version >= (2, 14)


def keep_keys_named_like_fields(model: Any) -> None:
    """Keep a JSON key that equals the name of a field instead of its alias, such as `mime_type`.

    From 2.13.0 to 2.14.1, pydantic-core drops it unless the JSON is decoded first, which a validator before it does.
    """
    if (2, 13) <= _version < (2, 14, 2):
        model["schema"] = core_schema.no_info_before_validator_function(_unchanged, model["schema"])


def _unchanged(value: Any) -> Any:
    return value


def dumpable(schema: Any, union: Any) -> CoreSchema:
    """Return the schema of a union that dumps its members correctly.

    Before 2.13, pydantic-core takes absent fields as a sign that a value is another member's, and in the end dumps it
    by its own class, a subclass with all its fields.
    """
    classes = tuple(model for member in members_of(union) for model in concrete_models(member))
    if _version >= (2, 13) or not classes:
        return cast("CoreSchema", schema)
    has_others = not all(map(concrete_models, members_of(union)))

    def dump(value: Any, handler: Any) -> Any:
        if not has_others and not isinstance(value, classes):
            raise PydanticSerializationUnexpectedValue(f"Expected another class than {type(value).__name__}")
        return handler(as_declared(value, classes))

    serialization = core_schema.wrap_serializer_function_ser_schema(dump, schema=core_schema.any_schema())
    return cast("CoreSchema", {**schema, "serialization": serialization})
