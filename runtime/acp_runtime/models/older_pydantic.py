"""Workarounds for pydantic before 2.14.2. Delete them, with all references, once pyproject.toml requires 2.14.2."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pydantic import VERSION
from pydantic_core import PydanticSerializationError, PydanticSerializationUnexpectedValue, core_schema

from acp_runtime.models.fail_fast import parts_of
from acp_runtime.models.union_members import as_declared

if TYPE_CHECKING:
    MISSING: Any
else:
    try:
        from pydantic import MISSING
    except ImportError:  # before 2.14
        from pydantic.experimental.missing_sentinel import MISSING

__all__ = ["CAN_DEFER", "COMPARES_EXTRA", "MISSING", "adapt"]

_version = tuple(map(int, re.findall(r"\d+", VERSION)[:3]))

# Before 2.14, pydantic-core can't dump a model in a field if the class of that model is deferred.
CAN_DEFER = _version >= (2, 14)

# Before 2.13, instances without unknown keys are only equal if both have an empty dict of them, or both None.
COMPARES_EXTRA = _version < (2, 13)

_OPTIONS = (
    "mode",
    "include",
    "exclude",
    "by_alias",
    "round_trip",
    "context",
    "exclude_unset",
    "exclude_defaults",
    "exclude_none",
)

# Strict validation takes them from JSON, but not from decoded JSON.
_NOT_IN_JSON = (
    "bytes",
    "date",
    "datetime",
    "decimal",
    "enum",
    "frozenset",
    "lax-or-strict",
    "set",
    "time",
    "timedelta",
    "tuple",
    "uuid",
)


def adapt(path: list[Any]) -> None:
    """Change the schema of a model as this version of pydantic needs it.

    Args:
        path: the schemas of the user's validators around the model, and that of the model.
    """
    if _version < (2, 14) and any(part["type"] == "function-wrap" for part in path):  # which forgets `by_name`
        path[-1]["config"] = {**path[-1]["config"], "validate_by_name": True}
    if _version < (2, 13):
        _dump_in_unions(path[-1])
    elif _version < (2, 14, 2):
        _keep_keys_named_like_fields(path[-1])


def _dump_in_unions(model: Any) -> None:
    """Let a model be dumped in a union as it is elsewhere.

    pydantic-core takes absent fields as a sign that the value belongs to another member. Then it dumps the value with a
    warning, and a subclass with all its fields.
    """
    cls: Any = model["cls"]

    def dump(value: Any, handler: Any, info: Any) -> Any:
        if not isinstance(value, cls):
            raise PydanticSerializationUnexpectedValue(f"Expected {cls.__name__}, found {type(value).__name__}")
        declared = as_declared(value, (cls,))
        try:
            return handler(declared)
        except PydanticSerializationUnexpectedValue:
            options: dict[str, Any] = {name: getattr(info, name) for name in _OPTIONS}
            try:
                return cls.__pydantic_serializer__.to_python(declared, warnings="error", **options)
            except PydanticSerializationError as error:
                raise PydanticSerializationUnexpectedValue(str(error)) from None

    model.setdefault("serialization", core_schema.wrap_serializer_function_ser_schema(dump, info_arg=True))


def _keep_keys_named_like_fields(model: Any) -> None:
    """Keep a JSON key that equals the name of a field instead of its alias, such as `mime_type`.

    pydantic-core drops it unless the JSON is decoded first, which a validator before it does.
    """
    for part in parts_of(model):
        if part["type"] in _NOT_IN_JSON:
            part["strict"] = False
    if model["schema"].get("function", {}).get("function") is not _unchanged:  # of a class that was built before
        model["schema"] = core_schema.no_info_before_validator_function(_unchanged, model["schema"])


def _unchanged(value: Any) -> Any:
    return value
