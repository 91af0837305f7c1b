"""Messages into lines. Params and results are dumped by one call of pydantic-core and never become dicts first.

What leaves is JSON to the letter: NaN and Infinity raise, wherever they are. Lone surrogates are escaped.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from pydantic_core import PydanticSerializationError, to_json

from acp_runtime.errors import RequestError
from acp_runtime.jsonrpc import placeholders
from acp_runtime.jsonrpc.finite import LONG, require_finite
from acp_runtime.jsonrpc.messages import RequestId
from acp_runtime.jsonrpc.tolerant import parse

# pydantic's errors repeat values, and these end up in logs.
_VALUE = r", input_value=.*(, input_type=)"


def request_line(id: int, method: str, params: Any) -> bytes:
    """A request. `None` as params leaves them out.

    Raises:
        PydanticSerializationError: if the params are not JSON.
    """
    return b"".join((b'{"jsonrpc":"2.0","id":%d' % id, *_method_and_params(method, params)))


def notification_line(method: str, params: Any) -> bytes:
    """A notification. `None` as params leaves them out.

    Raises:
        PydanticSerializationError: if the params are not JSON.
    """
    return b"".join((b'{"jsonrpc":"2.0"', *_method_and_params(method, params)))


def result_line(id: RequestId, result: Any) -> bytes:
    """An answer.

    Raises:
        PydanticSerializationError: if the result is not JSON.
    """
    own = b"%d" % id if id.__class__ is int else _id(id)
    return b"".join((b'{"jsonrpc":"2.0","id":', own, b',"result":', dump(result), b"}\n"))


def error_line(id: RequestId, error: RequestError) -> bytes:
    """An answer that is an error.

    Raises:
        PydanticSerializationError: if its data is not JSON.
    """
    body: dict[str, Any] = {"code": error.code, "message": error.message}
    if error.data is not None:
        body["data"] = error.data
    return b'{"jsonrpc":"2.0","id":%b,"error":%b}\n' % (_id(id), dump(body))


def dump(value: Any) -> bytes:
    """JSON of a model or of anything else. What a model holds against its own types is an error, not a warning.

    Raises:
        PydanticSerializationError: if it is not JSON. NaN and Infinity aren't.
    """
    # Looked up on the instance, which is faster: a class asks its metaclass first.
    serializer: Any = getattr(value, "__pydantic_serializer__", None)
    try:
        line: bytes = to_json(value) if serializer is None else serializer.to_json(value, warnings="error")
    except ValueError:
        line = _dump_again(value)
    # A model of this package writes NaN as null, and of a long line it takes less time to look at the values.
    if not hasattr(value, "__acp_open__") or len(line) >= LONG or line.rfind(b"null") >= 0:
        require_finite(value, line)
    return line


def to_plain_json(value: Any) -> Any:
    """The decoded JSON of what was received, infinite numbers as null."""
    return parse(_dump_again(value)).value


def _dump_again(value: Any) -> bytes:
    """Dump a value of any text and depth."""
    try:
        return placeholders.dump(value, _dump_json)
    except ValueError as error:
        raise PydanticSerializationError(re.sub(_VALUE, r"\1", str(error))) from None


def _dump_json(value: Any) -> bytes:
    serializer: Any = getattr(value, "__pydantic_serializer__", None)
    return to_json(value) if serializer is None else serializer.to_json(value, warnings="error")


def _id(id: RequestId) -> bytes:
    return b"%d" % id if id.__class__ is int else dump(id)


def _method_and_params(method: str, params: Any) -> tuple[bytes, ...]:
    if params is None:
        return (_method(method), b"}\n")
    return (_method(method), b',"params":', dump(params), b"}\n")


# Bounded, since names of extensions may be anything.
@lru_cache(1000)
def _method(method: str) -> bytes:
    return b',"method":' + dump(method)
