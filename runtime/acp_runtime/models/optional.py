"""Schemas of fields that may be absent, and of required fields."""

from __future__ import annotations

from typing import Any, cast

from pydantic_core import PydanticCustomError, PydanticOmit, core_schema
from pydantic_core.core_schema import CoreSchema

from acp_runtime.models import older_pydantic
from acp_runtime.models.absent import ABSENT, REQUIRED, Absent, AbsentDefault
from acp_runtime.models.validation_errors import OR_ABSENT, OR_VALUE

_OMITTED = core_schema.with_default_schema(core_schema.int_schema(strict=True), on_error="omit")
_ABSENT_IS_OMITTED = core_schema.chain_schema([core_schema.is_instance_schema(Absent), _OMITTED])
_NULL_IS_OMITTED = core_schema.chain_schema([core_schema.none_schema(), _OMITTED])

_REFUSE_ABSENT = frozenset({"str", "int", "float", "bool", "none", "list", "dict", "literal"})

_DUMPED_UNCHANGED = core_schema.simple_ser_schema("any")


def is_optional(schema: Any) -> bool:
    """Return whether a field need not be given."""
    return schema["type"] == "default" and bool({"default", "default_factory"} & schema.keys())


def optional_argument(schema: Any) -> CoreSchema:
    """Return the schema of an argument that may be `ABSENT`, made from the schema of a field with a default.

    It is validated in pydantic-core alone, because most arguments are absent. `argument_errors` removes the labels of
    alternatives from its errors.
    """
    return _with_default(schema, _or_absent(schema["schema"]))


def optional_json_field(schema: Any) -> CoreSchema:
    """Return the schema of a field that JSON may leave out, made from the schema of a field with a default."""
    value = schema["schema"]
    if value["type"] != "default" or value.get("on_error") != "omit":
        return _with_default(schema, core_schema.no_info_before_validator_function(_omit_absent, value))
    if _refuses_absent(value["schema"]):  # an invalid value is omitted, so an absent value is, too
        return _with_default(schema, value["schema"], on_error="omit")
    return _with_default(schema, _or_absent(value))


def required_argument(schema: Any) -> CoreSchema:
    """Return the schema of a required argument, which refuses `ABSENT`."""
    return core_schema.no_info_before_validator_function(_require, schema) if _takes_anything(schema) else schema


def required_json_field(schema: Any) -> CoreSchema:
    """Return the schema of a field that JSON must have. An invalid list falls back to an empty one, which is dumped."""
    if schema["type"] == "function-before" and schema["function"]["function"] is _omit_null:
        return core_schema.no_info_before_validator_function(_empty_for_null, schema["schema"])
    if schema["type"] != "default" or schema.get("on_error") != "omit":
        return cast("CoreSchema", schema)
    lenient = core_schema.with_default_schema(schema["schema"], default_factory=list, on_error="default")
    # Wrapped, because a field whose schema has a default is optional.
    return core_schema.json_or_python_schema(lenient, lenient)


def null_is_absent(schema: CoreSchema) -> CoreSchema:
    """Return the schema of a value for which null counts as absent."""
    return core_schema.no_info_before_validator_function(_omit_null, schema)


def null_argument_is_absent(schema: CoreSchema) -> CoreSchema:
    """Return the schema of an argument for which `None` counts as absent."""
    return core_schema.union_schema([(schema, OR_VALUE), (_NULL_IS_OMITTED, OR_ABSENT)], mode="left_to_right")


def with_plain_defaults(schema: Any) -> CoreSchema:
    """Return a model's schema for its JSON schema, which can't show an absent value as a default."""
    if schema["type"] == "model-fields":
        fields = {name: field for name, field in schema["fields"].items() if older_pydantic.is_real_field(name)}
        plain = {name: {**field, "schema": _with_plain_default(field["schema"])} for name, field in fields.items()}
        return cast("CoreSchema", {**schema, "fields": plain})
    inner = schema.get("schema")
    return cast("CoreSchema", {**schema, "schema": with_plain_defaults(inner)} if inner else schema)


def _with_plain_default(schema: Any) -> CoreSchema:
    default = schema.get("default")
    if schema["type"] != "default" or not isinstance(default, Absent):
        return cast("CoreSchema", schema)
    value = default.make() if isinstance(default, AbsentDefault) else None
    if value is None:
        return core_schema.with_default_schema(schema["schema"], default_factory=Absent)
    return core_schema.with_default_schema(schema["schema"], default=value)


def _with_default(schema: Any, value: Any, **options: Any) -> CoreSchema:
    kept = {key: schema[key] for key in ("serialization", "metadata", "ref") if key in schema}
    make = schema["default_factory"] if "default_factory" in schema else lambda: schema["default"]
    changed = core_schema.with_default_schema(value, default=AbsentDefault(make), validate_default=True, **options)
    return cast("CoreSchema", {**changed, **kept})


def _or_absent(value: Any) -> Any:
    # Absent first: a type that takes anything would take it as a value.
    either = core_schema.union_schema([(_ABSENT_IS_OMITTED, OR_ABSENT), (value, OR_VALUE)], mode="left_to_right")
    if _takes_anything(value):
        return {**either, "serialization": _DUMPED_UNCHANGED}
    # Unless the caller asks for strict validation, this validates by the first schema and dumps by the second.
    return core_schema.lax_or_strict_schema(either, value, strict=False)


def _refuses_absent(schema: Any) -> bool:
    """Return whether a schema certainly refuses an absent value, and does so fast."""
    return schema["type"] in _REFUSE_ABSENT or (schema["type"] == "nullable" and _refuses_absent(schema["schema"]))


def _takes_anything(schema: Any) -> bool:
    if schema["type"] in ("nullable", "default", "function-wrap"):
        return _takes_anything(schema["schema"])
    if schema["type"] == "json-or-python":
        return _takes_anything(schema["json_schema"])
    labelled: list[Any] = schema["choices"] if schema["type"] == "union" else []
    choices: list[Any] = [choice[0] if type(choice) is tuple else choice for choice in labelled]
    return schema["type"] == "any" or any(map(_takes_anything, choices))


def _require(value: Any) -> Any:
    if value is ABSENT:
        raise PydanticCustomError("absent", REQUIRED)
    return value


def _omit_absent(value: Any) -> Any:
    if isinstance(value, Absent):
        raise PydanticOmit
    return value


def _omit_null(value: Any) -> Any:
    if value is None:
        raise PydanticOmit
    return value


def _empty_for_null(value: Any) -> Any:
    empty: list[Any] = []
    return empty if value is None else value
