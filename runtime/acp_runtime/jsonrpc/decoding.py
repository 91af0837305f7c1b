"""Lines into messages: a validator for whole frames first, and an explanation of what it refused second.

Only what the validator refuses is decoded as plain JSON, to say what it is and what is wrong with it (rules 3, 4, 9, 11
and 12).

Knows the methods one side handles, and nothing of connections, sessions or tasks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json

from acp_runtime.errors import InvalidParams, InvalidRequest, MethodNotFound, ParseError
from acp_runtime.jsonrpc.descriptions import describe
from acp_runtime.jsonrpc.error_responses import explain
from acp_runtime.jsonrpc.frames import METHOD, Frames, params_adapter
from acp_runtime.jsonrpc.messages import (
    Ignored,
    IncomingNotification,
    IncomingRequest,
    IncomingResponse,
    InvalidNotification,
    Message,
    Refused,
)
from acp_runtime.jsonrpc.placeholders import validate
from acp_runtime.jsonrpc.tolerant import Unreadable, parse
from acp_runtime.models.json_values import as_object
from acp_runtime.models.schema_context import receiving
from acp_runtime.models.validation_errors import narrow_json_error
from acp_runtime.stubs.methods import AnyMethod, Notification, Request

_N = ord("N")


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
        # Fast pre-check: one byte rules out most lines, and a search from behind stops at a word's rare first letter.
        if ((_N in line and line.rfind(b"NaN") >= 0) or line.rfind(b"Infinity") >= 0) and not _is_json(line):
            return self._explain(line)
        try:
            frame = self._validate(line)
        except ValidationError as error:
            return self._explain(line, error) if self._built or not self._build_first(line) else self.decode(line)
        method = frame.get("method")
        if method is None:
            return _response(frame, line) if "result" in frame or "error" in frame else self._explain(line)
        # What is valid has an id if and only if its method is a request's (rule 11).
        if "id" in frame:
            return IncomingRequest(frame["id"], method, frame["params"])
        return IncomingNotification(method, frame["params"])

    def _build_first(self, line: bytes) -> bool:
        """Build the method of the first call alone, so that `initialize` is answered soon. Whether there is one."""
        try:
            method = METHOD.validate_json(line).get("method")
        except ValidationError:
            return False
        if method in self._single:
            self._build({method: self._single[method]})
        return bool(self._built)

    def _build(self, methods: Mapping[str, AnyMethod]) -> None:
        with receiving():
            adapter: TypeAdapter[Any] = TypeAdapter(Annotated[Any, Frames(methods)])
        self._built = methods
        self._validate = adapter.validator.validate_json

    def _explain(self, line: bytes, error: ValidationError | None = None) -> Message:
        """What a line is that the validator refused, with this error, or wasn't asked about."""
        try:
            value, fault = from_json(line, allow_inf_nan=False), ""
        except ValueError:
            error = None
            try:
                value, fault = parse(line)
            except Unreadable as damage:
                return _damaged(line, damage)
        frame = as_object(value)
        if fault:
            return _not_json(frame or {}, line, fault)
        if frame is None:
            return _no_message(line, "it is not an object")
        return self._explain_object(frame, line, error)

    def _explain_object(self, frame: dict[str, Any], line: bytes, error: ValidationError | None) -> Message:
        if _is_response(frame):
            return _response(frame, line)
        fault = _fault_of_call(frame)
        if fault:
            return _no_message(line, fault)
        method: str = frame["method"]
        if method in self._single and method not in self._built:
            self._build(self._single)
            return self.decode(line)
        return self._explain_call(frame, method, error)

    def _explain_call(self, frame: dict[str, Any], method: str, error: ValidationError | None) -> Message:
        params = frame.get("params")
        is_request = "id" in frame
        known = (self._requests if is_request else self._notifications).get(method)
        if known is None:
            return _unknown(frame, method)
        if error is not None and params is not None and method in self._built:
            return _invalid(frame, known, _explained(known, params, error, 2))
        # Missing and null params are an empty object (rule 12).
        given: Any = {} if params is None else params
        try:
            valid = validate(params_adapter(known).validator.validate_json, given)
        except ValidationError as fault:
            return _invalid(frame, known, _explained(known, given, fault, 0))
        return IncomingRequest(frame["id"], method, valid) if is_request else IncomingNotification(method, valid)


def _explained(method: AnyMethod, params: Any, error: ValidationError, prefix: int) -> dict[str, Any]:
    """What is wrong with params; of a union, with the member that was meant."""
    validate_python = params_adapter(method).validator.validate_python
    meant = narrow_json_error(
        lambda value: validate(lambda json: validate_python(from_json(json)), value), params, error
    )
    return explain(meant, prefix if meant is error else 0)


def _unknown(frame: dict[str, Any], method: str) -> Message:
    params = frame.get("params")
    if method.startswith("_"):
        return IncomingRequest(frame["id"], method, params) if "id" in frame else IncomingNotification(method, params)
    if "id" in frame:
        return Refused(frame["id"], MethodNotFound(method))
    return Ignored(f"the notification {method} is not known")


def _invalid(frame: dict[str, Any], method: AnyMethod, explained: dict[str, Any]) -> Message:
    """A call whose params are not valid."""
    error = InvalidParams(data=explained)
    if "id" in frame:
        return Refused(frame["id"], error)
    if method.side == "protocol":
        return Ignored(f"the params of {method.wire} are not valid")
    return InvalidNotification(method.wire, frame.get("params"), error)


def _damaged(line: bytes, damage: Unreadable) -> Refused:
    """A line that nothing reads. It is a response if it has an id, and no method as far as it can be read."""
    id = damage.members.get("id")
    answers = id if type(id) is int and "method" not in damage.members else None
    return Refused(None, ParseError(), describe(line, damage.reason), answers)


def _not_json(frame: dict[str, Any], line: bytes, fault: str) -> Message:
    """What isn't JSON, but was read whole all the same."""
    if _is_response(frame):
        id = frame.get("id")
        return IncomingResponse(id if _is_id(id) else None, f"it is not JSON: it has {fault}", False, None, False, line)
    id = None if _fault_of_call(frame) else frame.get("id")
    return Refused(id, ParseError(), f"{len(line)} bytes that are not JSON: they have {fault}")


def _no_message(line: bytes, fault: str) -> Refused:
    return Refused(None, InvalidRequest(), f"{len(line)} bytes of JSON that are no message: {fault}")


def _response(frame: dict[str, Any], line: bytes) -> IncomingResponse:
    has_result, has_error = "result" in frame, "error" in frame
    fault = "" if frame.get("jsonrpc") == "2.0" else 'it has no "jsonrpc": "2.0"'
    if not fault and has_result == has_error:
        fault = "it has both a result and an error" if has_result else "it has neither a result nor an error"
    id = frame.get("id")
    is_null = frame.get("result", True) is None
    known = type(id) is int or _is_id(id)
    return IncomingResponse(id if known else None, fault, has_error, frame.get("error"), is_null, line)


def _is_response(frame: dict[str, Any]) -> bool:
    """Whether an object is shaped like a response, valid or not. What has params was meant as a request."""
    if frame.get("method") is None and ("result" in frame or "error" in frame):
        return True
    no_call = "method" not in frame and "params" not in frame
    return no_call and frame.get("jsonrpc") == "2.0" and "id" in frame and _is_id(frame["id"])


def _fault_of_call(frame: dict[str, Any]) -> str:
    """Why an object is neither a request nor a notification; empty if it is one."""
    if frame.get("jsonrpc") != "2.0":
        return 'it has no "jsonrpc": "2.0"'
    if "method" not in frame:
        return "it has neither a method nor a result nor an error"
    if not isinstance(frame["method"], str):
        return "its method is not a string"
    return "" if _is_id(frame.get("id")) else "its id is not a string, an integer or null"


def _is_id(value: Any) -> bool:
    return value is None or (isinstance(value, (int, str)) and not isinstance(value, bool))


def _is_json(line: bytes) -> bool:
    """Whether a line is JSON by the letter, where pydantic-core would take NaN and Infinity."""
    try:
        from_json(line, allow_inf_nan=False)
    except ValueError:
        return False
    return True
