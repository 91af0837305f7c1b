"""The type of an incoming line: a schema that validates a frame and the params in it in one pass.

It is one tagged union of all methods, told apart by `method`; responses have no method, so the union falls back to
`jsonrpc` and finds them under "2.0". No part of a message but its frame is a dict on the way.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from pydantic import GetCoreSchemaHandler, TypeAdapter
from pydantic_core import SchemaValidator, core_schema
from pydantic_core.core_schema import CoreSchema

from acp_runtime.stubs.methods import AnyMethod, Request

_field = core_schema.typed_dict_field


class _Nothing:
    """What no JSON is."""


# Strict: `1.0` and `true` are no ids.
_ID = core_schema.nullable_schema(
    core_schema.union_schema(
        [core_schema.int_schema(strict=True), core_schema.str_schema(strict=True)], mode="left_to_right"
    )
)

# Refuses whatever there is: a notification has no id, not even null.
_NO_ID = core_schema.is_instance_schema(_Nothing)

# Null stays None, everything else becomes True without being built. In a union, so that absent stays absent.
_PRESENT = core_schema.union_schema(
    [
        core_schema.none_schema(),
        core_schema.with_default_schema(core_schema.none_schema(), default=True, on_error="default"),
    ],
    mode="left_to_right",
)

_RESPONSE = core_schema.typed_dict_schema(
    {
        "jsonrpc": _field(core_schema.literal_schema(["2.0"])),
        "id": _field(_ID),
        "result": _field(_PRESENT, required=False),
        "error": _field(core_schema.any_schema(), required=False),
        # A method that is called "2.0".
        "method": _field(core_schema.none_schema(), required=False),
    },
    extra_behavior="ignore",
)

METHOD = SchemaValidator(
    core_schema.typed_dict_schema(
        {"method": _field(core_schema.str_schema(strict=True), required=False)}, extra_behavior="ignore"
    )
)
"""What a message is about, and nothing of what is in it."""


class Frames:
    """The type of a frame: the union described at the top of this module."""

    def __init__(self, methods: Mapping[str, AnyMethod]) -> None:
        self._methods = methods

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        choices = {wire: self._frame(method, handler) for wire, method in self._methods.items()}
        discriminators: list[list[str | int]] = [["method"], ["jsonrpc"]]
        return core_schema.tagged_union_schema({**choices, "2.0": _RESPONSE}, discriminators)

    def _frame(self, method: AnyMethod, handler: GetCoreSchemaHandler) -> CoreSchema:
        is_request = isinstance(method, Request)
        fields = {
            "jsonrpc": _field(core_schema.literal_schema(["2.0"])),
            "id": _field(_ID if is_request else _NO_ID, required=is_request),
            "method": _field(core_schema.str_schema()),
            "params": _field(handler.generate_schema(params_type(method))),
        }
        return core_schema.typed_dict_schema(fields, extra_behavior="ignore")


def params_type(method: AnyMethod) -> Any:
    """The model, or union of models, of a method's params."""
    return getattr(method.profile.models, method.params)


@cache
def params_adapter(method: AnyMethod) -> TypeAdapter[Any]:
    """Validates params alone."""
    return TypeAdapter(params_type(method))
