"""The results of decoding a line.

Ids are echoed exactly as received, so they keep their JSON type: a string, an integer of any size, or null.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from acp_runtime.errors import InvalidParams, RequestError

RequestId: TypeAlias = str | int | None


@dataclass(slots=True)
class IncomingRequest:
    """A request with valid params, which are plain JSON if the schema doesn't define the method."""

    id: RequestId
    method: str
    params: Any


@dataclass(slots=True)
class IncomingNotification:
    """A notification with valid params, which are plain JSON if the schema doesn't define the method."""

    method: str
    params: Any


@dataclass(slots=True)
class InvalidNotification:
    """A notification that the schema defines, with invalid params.

    Attributes:
        params: the decoded JSON.
        error: the paths of the fields and what is wrong with each, without values.
    """

    method: str
    params: Any
    error: InvalidParams


@dataclass(slots=True)
class IncomingResponse:
    """A response of which only the envelope is validated. The type of its result depends on the call it answers.

    Attributes:
        fault: what is wrong with the envelope; "" if it is valid.
        is_error: whether it is an error response.
        error: the error object as plain JSON.
        is_null: whether the result is null.
        line: the complete message.
    """

    id: Any
    fault: str
    is_error: bool
    error: Any
    is_null: bool
    line: bytes


@dataclass(slots=True)
class Refused:
    """A message that is answered with an error immediately.

    Attributes:
        description: what is wrong with it, for the log; without payload.
        response_to: the id of the call that it answers, if it is an unreadable response whose id can be read.
    """

    id: RequestId
    error: RequestError
    description: str = ""
    response_to: int | None = None


@dataclass(slots=True)
class Ignored:
    """A message that is logged but not answered. The reason contains no payload."""

    reason: str


Message: TypeAlias = IncomingRequest | IncomingNotification | InvalidNotification | IncomingResponse | Refused | Ignored
