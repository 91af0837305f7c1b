"""Messages into lines. Params and results are dumped by one call of pydantic-core and never become dicts first."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from pydantic_core import to_json

from acp_runtime.errors import RequestError
from acp_runtime.messages import RequestId


def request_line(id: int, method: str, params: Any) -> bytes:
    """A request. `None` as params leaves them out.

    Raises:
        PydanticSerializationError: if the params are not JSON.
    """
    return b'{"jsonrpc":"2.0","id":%d,%b%b' % (id, _method(method), _params(params))


def notification_line(method: str, params: Any) -> bytes:
    """A notification. `None` as params leaves them out.

    Raises:
        PydanticSerializationError: if the params are not JSON.
    """
    return b'{"jsonrpc":"2.0",' + _method(method) + _params(params)


def result_line(id: RequestId, result: Any) -> bytes:
    """An answer.

    Raises:
        PydanticSerializationError: if the result is not JSON.
    """
    return b'{"jsonrpc":"2.0","id":%b,"result":%b}\n' % (to_json(id), dump(result))


def error_line(id: RequestId, error: RequestError) -> bytes:
    """An answer that is an error.

    Raises:
        PydanticSerializationError: if its data is not JSON.
    """
    body: dict[str, Any] = {"code": error.code, "message": error.message}
    if error.data is not None:
        body["data"] = error.data
    return b'{"jsonrpc":"2.0","id":%b,"error":%b}\n' % (to_json(id), to_json(body))


def dump(value: Any) -> bytes:
    """JSON of a model or of anything else. What a model holds against its own types is an error, not a warning.

    Raises:
        PydanticSerializationError: if it is not JSON.
    """
    serializer: Any = getattr(value.__class__, "__pydantic_serializer__", None)
    if serializer is None:
        return to_json(value)
    line: bytes = serializer.to_json(value, warnings="error")
    return line


@lru_cache(1024)
def _method(method: str) -> bytes:
    return b'"method":' + to_json(method)


def _params(params: Any) -> bytes:
    return b"}\n" if params is None else b',"params":' + dump(params) + b"}\n"
