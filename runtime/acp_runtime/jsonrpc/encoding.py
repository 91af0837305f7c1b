"""Encodes messages as lines. pydantic-core dumps params and results directly, without building dicts.

The output is strict JSON: NaN and Infinity raise at any depth, lone surrogates are escaped.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from pydantic_core import PydanticSerializationError, from_json, to_json

from acp_runtime.errors import RequestError
from acp_runtime.jsonrpc import surrogates_and_depth
from acp_runtime.jsonrpc.finite import LONG, require_finite
from acp_runtime.jsonrpc.messages import RequestId
from acp_runtime.jsonrpc.tolerant import parse

# pydantic's errors quote values, which must not get into logs.
_VALUE = r", input_value=.*(, input_type=)"


def request_line(id: int, method: str, params: Any) -> bytes:
    """Encode a request. Params of `None` are left out.

    Raises:
        PydanticSerializationError: if the params are not JSON.
    """
    return b"".join((b'{"jsonrpc":"2.0","id":%d' % id, *_method_and_params(method, params)))


def notification_line(method: str, params: Any) -> bytes:
    """Encode a notification. Params of `None` are left out.

    Raises:
        PydanticSerializationError: if the params are not JSON.
    """
    return b"".join((b'{"jsonrpc":"2.0"', *_method_and_params(method, params)))


def result_line(id: RequestId, result: Any) -> bytes:
    """Encode a response with a result.

    Raises:
        PydanticSerializationError: if the result is not JSON.
    """
    encoded_id = b"%d" % id if id.__class__ is int else _id(id)
    return b"".join((b'{"jsonrpc":"2.0","id":', encoded_id, b',"result":', dump(result), b"}\n"))


def error_line(id: RequestId, error: RequestError) -> bytes:
    """Encode an error response.

    Raises:
        PydanticSerializationError: if the error's data is not JSON.
    """
    body: dict[str, Any] = {"code": error.code, "message": error.message}
    if error.data is not None:
        body["data"] = error.data
    return b'{"jsonrpc":"2.0","id":%b,"error":%b}\n' % (_id(id), dump(body))


def dump(value: Any) -> bytes:
    """Dump a model or any other value as JSON.

    Raises:
        PydanticSerializationError: if the value can't be written as JSON, contains NaN or Infinity, or is a model with
            a field of the wrong type.
    """
    # Looked up on the instance, because a lookup on the class goes through its metaclass first, which is slower.
    serializer: Any = getattr(value, "__pydantic_serializer__", None)
    try:
        line: bytes = to_json(value) if serializer is None else serializer.to_json(value, warnings="error")
    except ValueError:
        line = _dump_again(value)
    # Generated models write NaN as null. In a long line, checking the values is faster than searching for "null".
    if not hasattr(value, "__acp_unknown__") or len(line) >= LONG or line.rfind(b"null") >= 0:
        require_finite(value, line)
    return line


def _dump_json(value: Any) -> bytes:
    serializer: Any = getattr(value, "__pydantic_serializer__", None)
    return to_json(value) if serializer is None else serializer.to_json(value, warnings="error")


def to_plain_json(value: Any, dump_json: Callable[[Any], bytes] = _dump_json) -> Any:
    """Return the plain JSON of a value, with infinite numbers as null.

    Raises:
        PydanticSerializationError: if the value can't be written as JSON.
    """
    line = _dump_again(value, dump_json)
    try:
        return from_json(line)
    except ValueError:  # a lone surrogate, or deep nesting
        return parse(line).value


def without_values(error: ValueError) -> PydanticSerializationError:
    """Return an error of pydantic's serializer without the values that it quotes."""
    return PydanticSerializationError(re.sub(_VALUE, r"\1", str(error)))


def _dump_again(value: Any, dump_json: Callable[[Any], bytes] = _dump_json) -> bytes:
    """Dump a value with lone surrogates or deep nesting."""
    try:
        return surrogates_and_depth.dump(value, dump_json)
    except ValueError as error:
        raise without_values(error) from None


def _id(id: RequestId) -> bytes:
    return b"%d" % id if id.__class__ is int else dump(id)


def _method_and_params(method: str, params: Any) -> tuple[bytes, ...]:
    if params is None:
        return (_method(method), b"}\n")
    return (_method(method), b',"params":', dump(params), b"}\n")


# Bounded, because extension methods can have any name.
@lru_cache(1000)
def _method(method: str) -> bytes:
    return b',"method":' + dump(method)
