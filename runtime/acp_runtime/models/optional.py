"""Schemas of fields that may be absent, and of those that may not."""

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

_PLAIN = frozenset({"str", "int", "float", "bool", "none", "list", "dict", "literal"})

_DUMPED_AS_IT_IS = core_schema.simple_ser_schema("any")


def is_optional(schema: Any) -> bool:
    """Whether a field need not be given."""
    return schema["type"] == "default" and bool({"default", "default_factory"} & schema.keys())


def optional_argument(schema: Any) -> CoreSchema:
    """The schema of an argument that is left out if it is absent, of the schema of a field with a default.

    All in pydantic-core, since most arguments are absent. `mistakes` mends what it says of a mistake.
    """
    return _with_default(schema, _or_absent(schema["schema"]))


def optional_on_the_wire(schema: Any) -> CoreSchema:
    """The schema of a field that is left out if a message doesn't have it, of the schema of a field with a default."""
    value = schema["schema"]
    if value["type"] != "default" or value.get("on_error") != "omit":
        return _with_default(schema, core_schema.no_info_before_validator_function(_omit_absent, value))
    if _refuses_absent(value["schema"]):  # what doesn't validate is left out anyway
        return _with_default(schema, value["schema"], on_error="omit")
    return _with_default(schema, _or_absent(value))


def required_argument(schema: Any) -> CoreSchema:
    """The schema of an argument that can't be absent."""
    return core_schema.no_info_before_validator_function(_require, schema) if _takes_anything(schema) else schema


def required_on_the_wire(schema: Any) -> CoreSchema:
    """The schema of a field that a message must have. A list that gives way is empty, so that it can be passed on."""
    if schema["type"] == "function-before" and schema["function"]["function"] is _omit_null:
        return core_schema.no_info_before_validator_function(_empty_for_null, schema["schema"])
    if schema["type"] != "default" or schema.get("on_error") != "omit":
        return cast("CoreSchema", schema)
    salvaged = core_schema.with_default_schema(schema["schema"], default_factory=list, on_error="default")
    # A default would make the field optional, but for one that pydantic-core doesn't see.
    return core_schema.json_or_python_schema(salvaged, salvaged)


def null_is_absent(schema: CoreSchema) -> CoreSchema:
    """The schema of a value that is left out if it is null."""
    return core_schema.no_info_before_validator_function(_omit_null, schema)


def null_argument_is_absent(schema: CoreSchema) -> CoreSchema:
    """The same for an argument."""
    return core_schema.union_schema([(schema, OR_VALUE), (_NULL_IS_OMITTED, OR_ABSENT)], mode="left_to_right")


def with_plain_defaults(schema: Any) -> CoreSchema:
    """A model's schema for describing it: an absent value can't be shown as JSON."""
    if schema["type"] == "model-fields":
        fields = {name: field for name, field in schema["fields"].items() if older_pydantic.is_real_field(name)}
        plain = {name: {**field, "schema": _with_plain_default(field["schema"])} for name, field in fields.items()}
        return cast("CoreSchema", {**schema, "fields": plain})
    within = schema.get("schema")
    return cast("CoreSchema", {**schema, "schema": with_plain_defaults(within)} if within else schema)


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
    # Absent first: a type that admits anything would take it for a value.
    either = core_schema.union_schema([(_ABSENT_IS_OMITTED, OR_ABSENT), (value, OR_VALUE)], mode="left_to_right")
    if _takes_anything(value):
        return {**either, "serialization": _DUMPED_AS_IT_IS}
    # Unless somebody asks for strict validation, this validates by the first schema and dumps by the second.
    return core_schema.lax_or_strict_schema(either, value, strict=False)


def _refuses_absent(schema: Any) -> bool:
    """Whether a schema is sure to refuse an absent value, and quickly."""
    return schema["type"] in _PLAIN or (schema["type"] == "nullable" and _refuses_absent(schema["schema"]))


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
