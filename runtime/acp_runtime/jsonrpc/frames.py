"""The pydantic-core schema of an incoming line, which validates a frame and its params in one pass.

It is a tagged union of all methods with `method` as its tag. Responses have no method, so the tag falls back to
`jsonrpc`, and they are found under "2.0". Only the frame becomes a dict; params are built directly as models.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from pydantic import GetCoreSchemaHandler, TypeAdapter
from pydantic_core import core_schema
from pydantic_core.core_schema import CoreSchema

from acp_runtime.models.markers import in_order
from acp_runtime.models.union_members import concrete_models
from acp_runtime.stubs.methods import AnyMethod, Request

_field = core_schema.typed_dict_field


class _NoValue:
    """A class that no JSON value is an instance of."""


# Strict: `1.0` and `true` are not ids.
_ID = in_order([core_schema.int_schema(strict=True), core_schema.str_schema()])
_ID_OR_NULL = core_schema.nullable_schema(_ID)

# Rejects every value: a notification has no id, not even null.
_NO_VALUE = core_schema.is_instance_schema(_NoValue)

# Null becomes None, any other value True without being built. Because of the union, a missing key gets no default.
_NULL = core_schema.none_schema()
_PRESENT = in_order([_NULL, core_schema.with_default_schema(_NULL, default=True, on_error="default")])

_RESPONSE = core_schema.typed_dict_schema(
    {
        "jsonrpc": _field(core_schema.literal_schema(["2.0"])),
        "id": _field(_ID_OR_NULL),
        "result": _field(_PRESENT, required=False),
        "error": _field(core_schema.any_schema(), required=False),
        # Otherwise a call of a method named "2.0" would be taken for a response.
        "method": _field(_NULL, required=False),
    },
    extra_behavior="ignore",
)

# Keeps only the method of a message.
_METHOD = core_schema.typed_dict_schema({"method": _field(core_schema.str_schema())}, extra_behavior="ignore")


class FrameSchema:
    """An annotation with the schema described at the top of this module.

    Args:
        methods: the methods, by wire name.
        others: the names of further methods. Of their messages, only the method is kept.
        null_ids: whether the id of a request can be null.
    """

    def __init__(self, methods: Mapping[str, AnyMethod], others: Iterable[str], *, null_ids: bool) -> None:
        self._methods = methods
        self._others = others
        self._id = _ID_OR_NULL if null_ids else _ID

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        choices = {wire: self._frame(method, handler) for wire, method in self._methods.items()}
        discriminators: list[list[str | int]] = [["method"], ["jsonrpc"]]
        others = dict.fromkeys(self._others, _METHOD)
        return core_schema.tagged_union_schema({**others, **choices, "2.0": _RESPONSE}, discriminators)

    def _frame(self, method: AnyMethod, handler: GetCoreSchemaHandler) -> CoreSchema:
        is_request = isinstance(method, Request)
        for model in concrete_models(method.params_type):
            model.model_rebuild()  # pydantic reuses the validator of a complete class
        fields = {
            "jsonrpc": _field(core_schema.literal_schema(["2.0"])),
            "id": _field(self._id if is_request else _NO_VALUE, required=is_request),
            "method": _field(core_schema.str_schema()),
            "params": _field(handler.generate_schema(method.params_type)),
            # A call that carries a result or an error as well is refused (rule 4).
            "result": _field(_NO_VALUE, required=False),
            "error": _field(_NO_VALUE, required=False),
        }
        return core_schema.typed_dict_schema(fields, extra_behavior="ignore")


@cache
def params_adapter(method: AnyMethod) -> TypeAdapter[Any]:
    """Return the adapter that validates the params of a method on their own."""
    return TypeAdapter(method.params_type)
