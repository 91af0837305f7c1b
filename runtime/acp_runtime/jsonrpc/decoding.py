"""Decodes lines into messages.

One validator checks the whole frame, params included. Only a line that it rejects is decoded again as plain JSON, to
find out what kind of message it is and what is wrong with it (rules 3, 4, 9, 11 and 12). In version 2, it may be a
batch: an array, whose entries are decoded one by one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache, cached_property
from logging import DEBUG, ERROR, getLogger
from typing import Annotated, Any, get_args

from pydantic import TypeAdapter, ValidationError

from acp_runtime.errors import InternalError, InvalidParams, InvalidRequest, InvalidResponse, MethodNotFound, ParseError
from acp_runtime.escaping import printable
from acp_runtime.jsonrpc.dropped_values import log_dropped
from acp_runtime.jsonrpc.error_responses import explain, summary
from acp_runtime.jsonrpc.frames import FrameSchema, params_adapter
from acp_runtime.jsonrpc.messages import (
    Batch,
    CheckedLine,
    Ignored,
    IncomingNotification,
    IncomingRequest,
    IncomingResponse,
    InvalidNotification,
    Message,
    Refused,
    Single,
)
from acp_runtime.jsonrpc.results import parse_error, parse_result, plain_result
from acp_runtime.jsonrpc.strict_json import ANY, has_surrogates, is_strict, parse, read, write
from acp_runtime.logs import log
from acp_runtime.models.json_values import as_array, as_object
from acp_runtime.stubs.methods import AnyMethod, Notification, Request
from acp_runtime.stubs.sides import Side

_logger = getLogger(__name__)

# The start of an unreadable line that shows which call it answers. The patterns are compiled on use.
_JSONRPC = rb'(?:\s*"jsonrpc"\s*:\s*"2\.0"\s*,)?'
_RESPONSE = rb'\{%b\s*"id"\s*:\s*([0-9]{1,18})\s*,%b\s*"(?:result|error)"' % (_JSONRPC, _JSONRPC)

# What may be a message or a fragment of one: it has a character of JSON, or begins like JSON.
_LIKE_JSON = rb'(?s).*["{}\x00]|\s*(?:[\]:,]|\[\W|-?[0-9]|\[?(?:true|false|null)\b)'


class Decoder:
    """Decodes the messages that one side receives.

    Args:
        requests: the request methods this side handles, by wire name.
        notifications: the notification methods this side handles, by wire name.
        batches: whether an array is a batch of messages.
    """

    def __init__(
        self,
        requests: Mapping[str, Request[Any, Any]],
        notifications: Mapping[str, Notification[Any]],
        *,
        batches: bool = False,
    ) -> None:
        self._batches = batches
        self._requests = requests
        self._notifications = notifications
        # A name that is both a request and a notification is left out: the type of its params depends on the id.
        methods: dict[str, AnyMethod] = {**requests, **notifications}
        self._unambiguous = {wire: methods[wire] for wire in requests.keys() ^ notifications.keys()}
        # The methods in the validator, and the validator. Threads share it, so both change by one assignment.
        self._current = self._build({})

    def decode(self, line: bytes) -> Message:
        """Decode a line. Never raises."""
        if not is_strict(line):
            return self._explain(line)
        built, validate = self._current
        try:
            frame = validate(line)
        except Exception:  # a validator of an extension's params may raise any
            frame = None  # and free the error, which holds the whole message
        if frame is None and has_surrogates(line):
            with suppress(Exception):
                frame = read(validate, line)
        if frame is None:
            return self._explain(line)
        method = frame.get("method")
        if method is None:
            return _response(frame, line) if "result" in frame or "error" in frame else self._explain(line)
        try:
            params = frame["params"]
        except KeyError:
            # A process uses a few methods, and the schema of each takes milliseconds to build.
            try:
                self._current = self._build({**built, method: self._unambiguous[method]})
            except Exception:  # perhaps too many files are open to load its modules
                return self._explain(line)
            return self.decode(line)
        if _logger.isEnabledFor(DEBUG):
            log_dropped(built[method], "params", line, params)
        # The schema requires an id of requests and forbids it for notifications (rule 11).
        return IncomingRequest(frame["id"], method, params) if "id" in frame else IncomingNotification(method, params)

    @cached_property
    def _null_ids(self) -> bool:
        """Whether the id of a request can be null: what the schema says of the notification that cancels one."""
        methods = self._notifications.values()
        fields = [method.params_type.model_fields[method.cancels] for method in methods if method.cancels]
        return all(type(None) in get_args(field.annotation) for field in fields)

    def _build(self, methods: Mapping[str, AnyMethod]) -> tuple[Mapping[str, AnyMethod], Callable[[bytes], Any]]:
        schema = FrameSchema(methods, self._unambiguous, null_ids=not methods or self._null_ids)
        adapter: TypeAdapter[Any] = TypeAdapter(Annotated[Any, schema])
        return methods, adapter.validator.validate_json

    def _explain(self, line: bytes) -> Message:
        """Decode a line that the validator rejects."""
        try:
            value = parse(line)
        except ValueError as unreadable:
            return _unreadable(line, unreadable)
        if self._batches and (items := as_array(value)):
            return Batch(len(items), self._entries(items))
        return self._explain_value(value, line)

    def _entries(self, items: list[Any]) -> Iterator[tuple[bytes, Single]]:
        """Decode the entries of a batch one by one, so that they are not in memory all at once."""
        for item in items:
            line = _write_entry(item)
            yield line, self._explain_value(item, line)

    def _explain_value(self, value: Any, line: bytes) -> Single:
        """Decode a line, or an entry of a batch, that was parsed already."""
        frame = as_object(value)
        if frame is None:
            return _not_a_message(line, "it is not an object")
        if _is_response(frame):
            return _response(frame, line)
        if fault := _fault_of_call(frame, null_ids=self._null_ids):
            return _not_a_message(line, fault)
        return self._explain_call(frame, frame["method"], frame.get("params"), line)

    def _explain_call(self, frame: dict[str, Any], method: str, params: Any, line: bytes) -> Single:
        is_request = "id" in frame
        known = (self._requests if is_request else self._notifications).get(method)
        if known is None:
            return _unknown_method(frame, method)
        try:
            # Missing and null params are read as an empty object (rule 12).
            given = write(ANY.to_json, {} if params is None else params)
            valid = read(params_adapter(known).validator.validate_json, given)
        except ValidationError as fault:
            return _invalid_params(frame, known, explain(fault, 0))
        except Exception as fault:  # raised by a validator of an extension's params
            return _refuse_unvalidated(frame, fault)
        if _logger.isEnabledFor(DEBUG):
            log_dropped(known, "params", line, valid)
        return IncomingRequest(frame["id"], method, valid) if is_request else IncomingNotification(method, valid)


@cache
def decoder_of(side: Side[Any]) -> Decoder:
    """Return the decoder of a side. Its connections share it, as building its validators takes tens of milliseconds."""
    return Decoder(side.requests, side.notifications, batches=side.profile.batches)


def check_line(side: Side[Any], line: bytes, call: str = "") -> CheckedLine:
    """Decode a line as a connection does that receives it. Return the kind of message, and why it is refused, if it is.

    Args:
        side: the side that receives it, such as `AGENT_SIDE` of `acp_bindings.v1.connecting`.
        line: the line, without its newline.
        call: if it is a response, the method that was called. Without it, only its envelope is checked.
    """
    message = decoder_of(side).decode(line)
    if isinstance(message, Batch):
        faults = [_check(side, entry, "").fault for _, entry in message.entries]
        return CheckedLine("batch", fault=next(filter(None, faults), ""))
    return _check(side, message, call)


def _check(side: Side[Any], message: Single, call: str) -> CheckedLine:
    if isinstance(message, IncomingResponse):
        proxy: Any = side.remote  # a subclass of `Remote`, with the tables of the peer's methods
        return _check_response(message, call, proxy.requests.get(call))
    if isinstance(message, Refused):
        error = message.error
        fault = message.description or (summary(error.data, "params") if message.method else error.message)
        return CheckedLine("invalid" if message.description else "request", None, error.code, fault)
    if isinstance(message, (Ignored, InvalidNotification)):
        fault = message.reason if isinstance(message, Ignored) else summary(message.error.data, "params")
        return CheckedLine("notification", fault=fault)
    return CheckedLine("request" if isinstance(message, IncomingRequest) else "notification", message.params)


def _check_response(response: IncomingResponse, call: str, method: Request[Any, Any] | None) -> CheckedLine:
    if response.fault:
        return CheckedLine("response", fault=response.fault)
    try:
        if response.is_error:
            return CheckedLine("response", code=parse_error(call, response).code)
        return CheckedLine("response", plain_result(response) if method is None else parse_result(method, response))
    except InvalidResponse as error:
        return CheckedLine("response", fault=error.reason)


def _unknown_method(frame: dict[str, Any], method: str) -> Single:
    params = frame.get("params")
    if method.startswith("_"):
        return IncomingRequest(frame["id"], method, params) if "id" in frame else IncomingNotification(method, params)
    if "id" in frame:
        return Refused(frame["id"], MethodNotFound(method))
    return Ignored(f"the notification {method} is unknown")


def _invalid_params(frame: dict[str, Any], method: AnyMethod, errors: dict[str, Any]) -> Single:
    error = InvalidParams(data=errors)
    if "id" in frame:
        return Refused(frame["id"], error, method=method.wire, params=frame.get("params"))
    if method.side == "protocol":
        return Ignored(f"the params of {method.wire} are invalid")
    return InvalidNotification(method.wire, frame.get("params"), error)


def _refuse_unvalidated(frame: dict[str, Any], error: Exception) -> Single:
    """Refuse params that can't be validated: a validator of an application raised, or there is none."""
    method = frame["method"]
    log(_logger, ERROR, "The params of %s can't be validated", method, error=error)
    if "id" in frame:
        return Refused(frame["id"], InternalError())
    return Ignored(f"the params of {method} can't be validated")


def _write_entry(item: Any) -> bytes:
    """Write an entry of a batch that was parsed. Its numbers may be as large as 1e999, which are read as infinite."""
    line = write(ANY.to_json, item)
    if is_strict(line):
        return line
    return re.sub(rb'("(?:[^"\\]|\\.)*+")|Infinity', lambda match: match[1] or b"1e999", line)


def _unreadable(line: bytes, reason: ValueError) -> Refused:
    """Refuse a line that isn't JSON. If it begins like a response, the call with its id fails."""
    response = re.match(_RESPONSE, line)
    return Refused(None, ParseError(), _describe(line, str(reason)), int(response[1]) if response else None)


def _describe(line: bytes, reason: str) -> str:
    """Describe a line that isn't JSON (rule 30). It is quoted only if it can't be a message or a fragment of one."""
    description = f"{len(line)} bytes that are not JSON ({reason.replace('line 1 column', 'byte')})"
    return description if re.match(_LIKE_JSON, line) else f"{description}: {printable(line)}"


def _not_a_message(line: bytes, fault: str) -> Refused:
    return Refused(None, InvalidRequest(), f"{len(line)} bytes of JSON that are not a message: {fault}")


def _response(frame: dict[str, Any], line: bytes) -> IncomingResponse:
    has_result, has_error = "result" in frame, "error" in frame
    fault = "" if frame.get("jsonrpc") == "2.0" else 'it has no "jsonrpc": "2.0"'
    if not fault and has_result == has_error:
        fault = "it has both a result and an error" if has_result else "it has neither a result nor an error"
    id, is_null = frame.get("id"), frame.get("result") is None
    known_id = id if type(id) is int or _is_id(id) else None
    return IncomingResponse(known_id, fault, has_error, frame.get("error"), is_null, line)


def _is_response(frame: dict[str, Any]) -> bool:
    """Return whether an object is a response, valid or not. One with params is a request."""
    if frame.get("method") is None and ("result" in frame or "error" in frame):
        return True
    has_call_members = "method" in frame or "params" in frame
    return not has_call_members and frame.get("jsonrpc") == "2.0" and "id" in frame and _is_id(frame["id"])


def _fault_of_call(frame: dict[str, Any], *, null_ids: bool) -> str:
    """Return why an object is neither a request nor a notification, or "" if it is one."""
    if frame.get("jsonrpc") != "2.0":
        return 'it has no "jsonrpc": "2.0"'
    if "method" not in frame:
        return "it has neither a method nor a result nor an error"
    if not isinstance(frame["method"], str):
        return "its method is not a string"
    if "result" in frame or "error" in frame:
        return "it has a method and a result or an error as well"
    if not null_ids and frame.get("id", "") is None:
        return "its id is null"
    return "" if _is_id(frame.get("id")) else "its id is not a string, an integer or null"


def _is_id(value: Any) -> bool:
    return value is None or (isinstance(value, (int, str)) and not isinstance(value, bool))
