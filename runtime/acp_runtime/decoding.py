"""Lines into messages: a validator for whole frames first, and an explanation of what it refused second.

The validator is one tagged union of all methods, told apart by `method`; answers have no method, so the union falls
back to `jsonrpc` and finds them under "2.0". pydantic-core does all of it in one pass and no part of a message but its
frame is a dict on the way. Only what it refuses is decoded as plain JSON, to say why.

Knows the methods one side handles, and nothing of connections, sessions or tasks.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any

from pydantic import GetCoreSchemaHandler, TypeAdapter, ValidationError
from pydantic_core import SchemaValidator, core_schema, from_json, to_json
from pydantic_core.core_schema import CoreSchema

from acp_runtime.errors import InvalidParams, InvalidRequest, MethodNotFound, ParseError
from acp_runtime.failures import explain
from acp_runtime.json_values import as_object
from acp_runtime.messages import (
    Ignored,
    IncomingNotification,
    IncomingRequest,
    IncomingResponse,
    Message,
    Refused,
    RequestId,
)
from acp_runtime.methods import AnyMethod, Notification, Request

_N = ord("N")
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

# What a message is about, and nothing of what is in it.
_METHOD = SchemaValidator(
    core_schema.typed_dict_schema(
        {"method": _field(core_schema.str_schema(strict=True), required=False)}, extra_behavior="ignore"
    )
)


class _Frames:
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


class Decoder:
    """Understands what one side of a connection receives.

    Args:
        requests: those it handles, by their names on the wire.
        notifications: likewise.
    """

    def __init__(
        self, requests: Mapping[str, Request[Any, Any]], notifications: Mapping[str, Notification[Any]]
    ) -> None:
        self._requests = requests
        self._notifications = notifications
        # A method that is a request and a notification has two types of params; which one depends on the id.
        self._single: dict[str, AnyMethod] = {
            wire: method
            for table, other in ((requests, notifications), (notifications, requests))
            for wire, method in table.items()
            if wire not in other
        }
        self._built: Mapping[str, AnyMethod] = {}
        self._build({})

    def decode(self, line: bytes) -> Message:
        """What a line is. Never raises."""
        # A letter is found twenty times as fast as a word, and a word by its rare first letter from behind.
        if ((_N in line and line.rfind(b"NaN") >= 0) or line.rfind(b"Infinity") >= 0) and not _is_json(line):
            return Refused(None, ParseError())
        if not self._built:
            self._build_first(line)
        try:
            frame = self._validate(line)
        except ValidationError as error:
            return self._explain(line, error)
        method = frame.get("method")
        if method is None:
            return _response(frame, line)
        # What is valid has an id if and only if its method is a request's (rule 11).
        if "id" in frame:
            return IncomingRequest(frame["id"], method, frame["params"])
        return IncomingNotification(method, frame["params"])

    def _build_first(self, line: bytes) -> None:
        """Build the method of the first message alone, so that `initialize` is answered soon."""
        try:
            method = _METHOD.validate_json(line).get("method")
        except ValidationError:
            return
        if method in self._single:
            self._build({method: self._single[method]})

    def _build(self, methods: Mapping[str, AnyMethod]) -> None:
        adapter: TypeAdapter[Any] = TypeAdapter(Annotated[Any, _Frames(methods)])
        self._built = methods
        self._validate = adapter.validator.validate_json

    def _explain(self, line: bytes, error: ValidationError) -> Message:
        """What a line is that the validator refused, or was not asked about."""
        try:
            frame = as_object(from_json(line, allow_inf_nan=False))
        except ValueError:
            return Refused(None, ParseError())
        if frame is None:
            return Refused(None, InvalidRequest())
        return self._explain_object(frame, line, error)

    def _explain_object(self, frame: dict[str, Any], line: bytes, error: ValidationError) -> Message:
        if "method" not in frame and ("result" in frame or "error" in frame):
            fault = "" if frame.get("jsonrpc") == "2.0" else 'it has no "jsonrpc": "2.0"'
            return _response(frame, line, fault)
        method = frame.get("method")
        if frame.get("jsonrpc") != "2.0" or not isinstance(method, str) or not _is_id(frame.get("id")):
            return Refused(None, InvalidRequest())
        if method in self._single and method not in self._built:
            self._build(self._single)
            return self.decode(line)
        return self._explain_message(frame, method, error)

    def _explain_message(self, frame: dict[str, Any], method: str, error: ValidationError) -> Message:
        expects_answer = "id" in frame
        known = (self._requests if expects_answer else self._notifications).get(method)
        if known is None:
            return self._unknown(frame, method)
        params = frame.get("params")
        faults = error if params is not None and method in self._built else None
        try:
            if faults is not None:
                raise faults
            value = params_adapter(known).validate_json(_dump_again(params))
        except ValidationError as fault:
            if not expects_answer:
                return Ignored(f"the params of {method} are not valid ({fault.error_count()} errors)")
            return Refused(frame["id"], InvalidParams(data=explain(fault, 2 if fault is faults else 0)))
        return IncomingRequest(frame["id"], method, value) if expects_answer else IncomingNotification(method, value)

    def _unknown(self, frame: dict[str, Any], method: str) -> Message:
        if method.startswith("_"):
            params = frame.get("params")
            return (
                IncomingRequest(frame["id"], method, params) if "id" in frame else IncomingNotification(method, params)
            )
        if "id" in frame:
            return Refused(frame["id"], MethodNotFound(method))
        return Ignored(f"the notification {method} is not known")


def params_type(method: AnyMethod) -> Any:
    """The model, or union of models, of a method's params."""
    return getattr(method.profile.models, method.params)


@cache
def params_adapter(method: AnyMethod) -> TypeAdapter[Any]:
    """Validates params alone."""
    return TypeAdapter(params_type(method))


def _dump_again(params: Any) -> bytes:
    """The JSON of decoded params. Missing and null params are an empty object (rule 12)."""
    return b"{}" if params is None else to_json(params)


def _is_json(line: bytes) -> bool:
    """Whether a line is JSON by the letter, where pydantic-core would take NaN and Infinity."""
    try:
        from_json(line, allow_inf_nan=False)
    except ValueError:
        return False
    return True


def _is_id(value: Any) -> bool:
    return value is None or (isinstance(value, (int, str)) and not isinstance(value, bool))


def _response(frame: dict[str, Any], line: bytes, fault: str = "") -> IncomingResponse:
    has_result, has_error = "result" in frame, "error" in frame
    if not fault and has_result == has_error:
        fault = "it has both a result and an error" if has_result else "it has neither a result nor an error"
    id: RequestId = frame.get("id")
    return IncomingResponse(id, fault, has_error, frame.get("error"), frame.get("result", True) is None, line)
