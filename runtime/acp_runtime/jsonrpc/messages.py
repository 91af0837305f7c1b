"""What a line can turn out to be, once it is decoded.

An id is echoed exactly as it came, so it stays what JSON says: a string, an integer of any size, or null.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from acp_runtime.errors import InvalidParams, RequestError

RequestId: TypeAlias = str | int | None


@dataclass(slots=True)
class IncomingRequest:
    """A request with valid params. Those of a method that the schema doesn't know are plain JSON."""

    id: RequestId
    method: str
    params: Any


@dataclass(slots=True)
class IncomingNotification:
    """A notification with valid params. Those of a method that the schema doesn't know are plain JSON."""

    method: str
    params: Any


@dataclass(slots=True)
class InvalidNotification:
    """A notification of the schema whose params are not valid.

    Attributes:
        params: the decoded JSON.
        error: the paths of the fields and what is wrong with each, without values.
    """

    method: str
    params: Any
    error: InvalidParams


@dataclass(slots=True)
class IncomingResponse:
    """A response, of which only the envelope has been looked at: the call it answers says what is to be in it.

    Attributes:
        fault: what is wrong with the envelope; empty if nothing is.
        is_error: whether it is an error response.
        error: the error object as plain JSON.
        is_null: whether the result is null.
        line: the whole message.
    """

    id: Any
    fault: str
    is_error: bool
    error: Any
    is_null: bool
    line: bytes


@dataclass(slots=True)
class Refused:
    """A message that is answered with an error at once.

    Attributes:
        description: what is wrong with it, for the log; without payload.
        response_to: the id of the call that it is the response to, as far as it can be read.
    """

    id: RequestId
    error: RequestError
    description: str = ""
    response_to: int | None = None


@dataclass(slots=True)
class Ignored:
    """A message that is logged and not answered. The reason holds no payload."""

    reason: str


Message: TypeAlias = IncomingRequest | IncomingNotification | InvalidNotification | IncomingResponse | Refused | Ignored
