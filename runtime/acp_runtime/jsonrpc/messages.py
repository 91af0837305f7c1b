"""The results of decoding a line.

Ids are echoed exactly as received, so they keep their JSON type: a string, an integer of any size, or null.

They are no dataclasses because six of those take 1 % of an agent's start (benchmark row "cold-start"). Most are named
tuples; instances of the two most frequent classes are made in less time with slots.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple, TypeAlias, final

from acp_runtime.errors import InvalidParams, RequestError

RequestId: TypeAlias = str | int | None


@final
class IncomingRequest:
    """A request with valid params, which are plain JSON if the schema doesn't define the method."""

    __slots__ = ("id", "method", "params")

    def __init__(self, id: RequestId, method: str, params: Any) -> None:
        self.id: RequestId = id
        self.method: str = method
        self.params: Any = params


@final
class IncomingNotification:
    """A notification with valid params, which are plain JSON if the schema doesn't define the method."""

    __slots__ = ("method", "params")

    def __init__(self, method: str, params: Any) -> None:
        self.method: str = method
        self.params: Any = params


@final
class InvalidNotification(NamedTuple):
    """A notification that the schema defines, with invalid params.

    Attributes:
        params: the decoded JSON.
        error: the paths of the fields and what is wrong with each, without values.
    """

    method: str
    params: Any
    error: InvalidParams


@final
class IncomingResponse(NamedTuple):
    """A response of which only the envelope is validated. The type of its result depends on the call it answers.

    Attributes:
        fault: what is wrong with the envelope; "" if it is valid.
        is_error: whether it is an error response.
        error: the error object as plain JSON.
        is_null: whether the result is null or missing.
        line: the complete message.
    """

    id: Any
    fault: str
    is_error: bool
    error: Any
    is_null: bool
    line: bytes


@final
class Refused(NamedTuple):
    """A message that is answered with an error immediately.

    Attributes:
        description: what is wrong with it, for the log; without payload.
        response_to: the id of the call that it answers, if it is an unreadable response whose id can be read.
        method: the method, if it is a request that the schema defines, with invalid params.
        params: these params, as decoded JSON.
    """

    id: RequestId
    error: RequestError
    description: str = ""
    response_to: int | None = None
    method: str = ""
    params: Any = None


@final
class Ignored(NamedTuple):
    """A message that is logged but not answered. The reason contains no payload."""

    reason: str


Single: TypeAlias = IncomingRequest | IncomingNotification | InvalidNotification | IncomingResponse | Refused | Ignored


@final
class Batch(NamedTuple):
    """An array of messages.

    Attributes:
        size: how many there are, at least one.
        entries: each as a line of its own and decoded, when it is its turn.
    """

    size: int
    entries: Iterator[tuple[bytes, Single]]


Message: TypeAlias = Single | Batch


@final
class CheckedLine(NamedTuple):
    """The message on a line, and why the receiving side refuses it, if it does.

    Attributes:
        kind: the kind of message, "batch" for several in an array, or "invalid".
        value: the params for a handler, or the result for a caller; None if it is refused or an error.
        code: the code of the error that answers a request, or of the error in a response; None if there is no error.
        fault: why it is refused, with the paths of the fields; "" if it is valid. Of a batch, the first fault.
    """

    kind: Literal["request", "notification", "response", "batch", "invalid"]
    value: Any = None
    code: int | None = None
    fault: str = ""
