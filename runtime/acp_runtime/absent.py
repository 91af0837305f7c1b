"""`ABSENT`, and how an absent field stays absent: it is not in the instance at all.

pydantic stores a default for a field that wasn't given and remembers apart which ones were. A message dumped by
anything that doesn't ask for that (a type adapter, a framework, a union) would then say null where its sender said
nothing. Here an optional field's default is a stand-in that never validates, and what doesn't validate is left out.
"""

from __future__ import annotations

from typing import Any, Final, cast

from pydantic_core import PydanticCustomError, core_schema
from pydantic_core.core_schema import CoreSchema

from acp_runtime import older_pydantic
from acp_runtime.markers import first_match


class _Absent:
    """The type of `ABSENT`. It validates as nothing, so its field is left out of the instance."""

    def __repr__(self) -> str:
        return "ABSENT"

    def __bool__(self) -> bool:
        return False

    def __reduce__(self) -> str:
        return "ABSENT"


ABSENT: Final[Any] = _Absent()
"""Passed for a keyword of a proxy or a constructor: the same as leaving it out. `None` is null.

There is one such object, it is falsy, and reading a field never gives it. A required field refuses it.
"""

_ABSENT_IS_LEFT_OUT = core_schema.chain_schema(
    [
        core_schema.custom_error_schema(
            core_schema.is_instance_schema(_Absent),
            custom_error_type="left_out",
            custom_error_message="Input should be left out",
        ),
        core_schema.with_default_schema(core_schema.int_schema(strict=True), on_error="omit"),
    ]
)


def refuse_absent(schema: Any) -> CoreSchema:
    """The schema of a required argument, which can't be absent: any value may be one that isn't."""
    if not _takes_anything(schema):
        return cast("CoreSchema", schema)
    return core_schema.no_info_before_validator_function(_require, schema)


def _takes_anything(schema: Any) -> bool:
    labelled: list[Any] = schema.get("choices", [])
    choices: list[Any] = [choice[0] if type(choice) is tuple else choice for choice in labelled]
    return schema["type"] == "any" or any(map(_takes_anything, choices))


def _require(value: Any) -> Any:
    if value is ABSENT:
        raise PydanticCustomError("missing", "Field required, so it can't be ABSENT")
    return value


# What is sure to refuse the stand-in, and quickly.
_PLAIN = frozenset({"str", "int", "float", "bool", "none", "list", "dict", "literal"})


def leave_out_when_absent(schema: Any) -> CoreSchema:
    """Of an optional field that is absent keep nothing, so that however a message is dumped, absent stays absent."""
    if schema["type"] != "default" or not {"default", "default_factory"} & schema.keys():
        return cast("CoreSchema", schema)
    kept = {key: schema[key] for key in ("serialization", "metadata", "ref") if key in schema}
    return cast("CoreSchema", {**_left_out_when_absent(schema["schema"]), **kept})


def _left_out_when_absent(value: Any) -> Any:
    if value["type"] == "default" and value.get("on_error") == "omit" and _refuses_the_stand_in(value["schema"]):
        # What doesn't validate is left out anyway.
        return core_schema.with_default_schema(value["schema"], default=ABSENT, validate_default=True, on_error="omit")
    # The stand-in first: a type that admits anything would take it for a value.
    absent = first_match([("<absent>", _ABSENT_IS_LEFT_OUT), ("<value>", value)])
    return core_schema.with_default_schema(absent, default=ABSENT, validate_default=True)


def _refuses_the_stand_in(schema: Any) -> bool:
    if schema["type"] == "nullable":
        return _refuses_the_stand_in(schema["schema"])
    return schema["type"] in _PLAIN


def with_plain_defaults(schema: Any) -> CoreSchema:
    """A model's schema for describing it: the stand-in for an absent value can't be shown as JSON."""
    if schema["type"] == "model-fields":
        fields = {name: field for name, field in schema["fields"].items() if older_pydantic.is_declared(name)}
        plain = {name: {**field, "schema": _with_plain_default(field["schema"])} for name, field in fields.items()}
        return cast("CoreSchema", {**schema, "fields": plain})
    within = schema.get("schema")
    return cast("CoreSchema", {**schema, "schema": with_plain_defaults(within)} if within else schema)


def _with_plain_default(schema: Any) -> CoreSchema:
    if schema["type"] != "default" or not isinstance(schema.get("default"), _Absent):
        return cast("CoreSchema", schema)
    return core_schema.with_default_schema(schema["schema"], default_factory=_Absent)
