"""Encodes messages as lines. pydantic-core dumps params and results directly, without building dicts.

The output is strict JSON: NaN and Infinity raise at any depth, lone surrogates are escaped.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any

from pydantic_core import PydanticSerializationError, from_json

from acp_runtime.errors import RequestError
from acp_runtime.jsonrpc.messages import RequestId
from acp_runtime.jsonrpc.strict_json import ANY, has_replaced_keys, is_strict, read, write

_EF = 0xEF


def request_line(id: int, method: str, params: Any) -> bytes:
    """Encode a request. Params of `None` are left out.

    Raises:
        PydanticSerializationError: if the params are not JSON.
    """
    if params is None:
        return b'{"jsonrpc":"2.0","id":%d%b}\n' % (id, _method(method))
    return b"".join((b'{"jsonrpc":"2.0","id":%d' % id, _method(method), b',"params":', dump(params), b"}\n"))


def notification_line(method: str, params: Any) -> bytes:
    """Encode a notification. Params of `None` are left out.

    Raises:
        PydanticSerializationError: if the params are not JSON.
    """
    if params is None:
        return b'{"jsonrpc":"2.0"%b}\n' % _method(method)
    return b"".join((b'{"jsonrpc":"2.0"', _method(method), b',"params":', dump(params), b"}\n"))


def result_line(id: RequestId, result: Any) -> bytes:
    """Encode a response with a result.

    Raises:
        PydanticSerializationError: if the result is not JSON.
    """
    return b"".join((b'{"jsonrpc":"2.0","id":', _id(id), b',"result":', dump(result), b"}\n"))


def error_line(id: RequestId, error: RequestError) -> bytes:
    """Encode an error response.

    Raises:
        TypeError: if the error's code is not an integer, or its message is not text. Nothing checks it earlier.
        PydanticSerializationError: if its data is not JSON.
    """
    body: dict[str, Any] = {"code": error.code, "message": error.message}
    if not isinstance(body["code"], int) or isinstance(body["code"], bool) or not isinstance(body["message"], str):
        raise TypeError("its code is not an integer, or its message is not text")
    if error.data is not None:
        body["data"] = error.data
    return b'{"jsonrpc":"2.0","id":%b,"error":%b}\n' % (_id(id), dump(body))


def dump(value: Any, serializer: Any = None, by_alias: bool | None = None) -> bytes:
    """Dump a model or any other value as JSON.

    Args:
        value: the value.
        serializer: the serializer of its type; by default, that of its class.
        by_alias: whether names are those of the JSON; by default as the model is configured.

    Raises:
        PydanticSerializationError: if the value can't be written as JSON, contains NaN or Infinity, or is a model with
            a field of the wrong type.
    """
    if serializer is None:
        # Looked up on the instance, because a lookup on the class goes through its metaclass first, which is slower.
        serializer = getattr(value, "__pydantic_serializer__", ANY)
    try:
        line: bytes = serializer.to_json(value, warnings="error", by_alias=by_alias)
    except ValueError:
        line = b""
    # The first byte of what replaces surrogates in keys: a one-byte scan rules out most lines.
    if not line or (_EF in line and has_replaced_keys(line)):
        line = write(partial(serializer.to_json, warnings="error", by_alias=by_alias), value)
    if not is_strict(line) or (line.rfind(b"null") >= 0 and not _is_finite(value, serializer)):
        message = "NaN and Infinity are not JSON and can't be sent; send null or a finite number instead"
        raise PydanticSerializationError(message)
    return line


def to_plain_json(value: Any) -> Any:
    """Return the plain JSON of a model that was received. Its infinite numbers (`1e999`) stay.

    Raises:
        PydanticSerializationError: if the value can't be written as JSON.
    """
    return read(from_json, write(value.__pydantic_serializer__.to_json, value))


def _is_finite(value: Any, serializer: Any) -> bool:
    """Look for NaN without models. Those of an application write it as null, unless they are configured not to."""
    to_python = partial(serializer.to_python, warnings=False)
    return is_strict(write(lambda item: ANY.to_json(to_python(item), fallback=str), value))


def _id(id: RequestId) -> bytes:
    return b"%d" % id if id.__class__ is int else dump(id)


# Bounded, because extension methods can have any name.
@lru_cache(1000)
def _method(method: str) -> bytes:
    return b',"method":' + dump(method)
