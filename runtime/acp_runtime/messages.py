"""What a line can turn out to be, once it is understood.

An id is echoed exactly as it came, so it stays what JSON says: a string, an integer of any size, or null.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from acp_runtime.errors import RequestError

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
class IncomingResponse:
    """An answer, of which only the envelope has been looked at: whose call it answers says what is to be in it.

    Attributes:
        fault: what is wrong with the envelope; empty if nothing is.
        failed: whether it is an error.
        error: the error object as plain JSON.
        null: whether the result is null.
        line: the whole message.
    """

    id: Any
    fault: str
    failed: bool
    error: Any
    null: bool
    line: bytes


@dataclass(slots=True)
class Refused:
    """A message that is answered with an error at once."""

    id: RequestId
    error: RequestError


@dataclass(slots=True)
class Ignored:
    """A message that is logged and not answered. The reason holds no payload."""

    reason: str


Message: TypeAlias = IncomingRequest | IncomingNotification | IncomingResponse | Refused | Ignored
