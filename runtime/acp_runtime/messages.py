"""What a line can turn out to be, once it is understood.

An id is echoed exactly as it came, so it stays what JSON says: a string, an integer of any size, or null.

A request or a notification is the only object that its handling costs, since it counts as the handler's `Activity`.
What the decoder doesn't know of it is set when a handler is to have it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from acp_runtime.errors import InvalidParams, RequestError
from acp_runtime.flow import Activity

RequestId: TypeAlias = str | int | None


@dataclass(slots=True, eq=False)
class IncomingRequest(Activity):
    """A request with valid params. Those of a method that the schema doesn't know are plain JSON.

    Attributes:
        task: runs its handler.
        turn_cancelled: the client cancelled the turn that this request is (rule 21).
        answered: the answer was sent without waiting for the handler.
    """

    ordered = False

    id: RequestId
    method: str
    params: Any

    task: asyncio.Task[None] | None = field(init=False)
    turn_cancelled: bool = field(init=False)
    answered: bool = field(init=False)


@dataclass(slots=True, eq=False)
class IncomingNotification(Activity):
    """A notification with valid params. Those of a method that the schema doesn't know are plain JSON.

    Attributes:
        handle: its handler.
    """

    ordered = True

    method: str
    params: Any

    handle: Callable[[Any], Awaitable[Any]] = field(init=False)


@dataclass(slots=True)
class IncomingResponse:
    """An answer, of which only the envelope has been looked at: whose call it answers says what is to be in it.

    Attributes:
        fault: what is wrong with the envelope, or with the line as JSON; empty if nothing is.
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
    """A message that is answered with an error at once.

    Attributes:
        about: what is wrong with the line, for the log (rule 30); empty if the error says it.
        answers: the id of the call that it answers, as far as it can be read; None if it isn't a response.
    """

    id: RequestId
    error: RequestError
    about: str = ""
    answers: int | None = None


@dataclass(slots=True)
class InvalidNotification:
    """A notification of a known method whose params are not valid (rule 12).

    Attributes:
        params: the decoded JSON.
        error: says what is wrong with them, without values.
    """

    method: str
    params: Any
    error: InvalidParams


@dataclass(slots=True)
class Ignored:
    """A message that is logged and not answered. The reason holds no payload."""

    reason: str


Message: TypeAlias = IncomingRequest | IncomingNotification | IncomingResponse | InvalidNotification | Refused | Ignored
