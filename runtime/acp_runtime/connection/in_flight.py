"""Messages that are being handled: what is known of each while its handler runs, and which one runs this code."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Any, ClassVar, TypeAlias, cast

from acp_runtime.jsonrpc.messages import RequestId
from acp_runtime.stubs import context
from acp_runtime.stubs.methods import AnyMethod, Profile, Request

# What the connection does with a notification that its handler leaves to the base class.
Default: TypeAlias = Callable[[AnyMethod, Any], None]
Handle: TypeAlias = Callable[[Any], Awaitable[Any]]


class QueueLoad:
    """What waits in one queue, in numbers.

    Attributes:
        count: how many messages.
        weight: what they take in memory, in bytes.
        exemptions: for how many reasons they may be waiting for something that is not read yet.
    """

    __slots__ = ("count", "exemptions", "weight")

    def __init__(self) -> None:
        self.count: int = 0
        self.weight: int = 0
        self.exemptions: int = 0


class InFlightMessage:
    """An incoming message from its arrival to the end of its handler.

    Attributes:
        ordered: whether later messages wait for its end.
        default: the connection's default handling of a notification.
        weight: what it takes in memory, in bytes.
        queue: for a notification: those of its session that wait.
        waiting: how many calls to the peer its handler is waiting for.
        done: whether its handler has ended; tasks that it started may still run in its context.
    """

    __slots__ = ("default", "done", "queue", "waiting", "weight")

    ordered: ClassVar[bool]

    default: Default
    weight: int
    queue: QueueLoad
    waiting: int
    done: bool


class InFlightNotification(InFlightMessage):
    """A notification in the queue of its session.

    Attributes:
        wire: its method.
        params: the params, or the whole line if it is decoded later.
        handle: its handler.
    """

    __slots__ = ("handle", "params", "wire")

    ordered = True

    # Sets what the base class has, too: a second call would cost every update (benchmark row `stream`).
    def __init__(self, default: Default, wire: str, params: Any, handle: Handle) -> None:
        self.default = default
        self.weight = 0
        self.waiting = 0
        self.done = False
        self.wire: str = wire
        self.params: Any = params
        self.handle: Handle = handle


class InFlightRequest(InFlightMessage):
    """A request whose handler was started.

    Attributes:
        id: as it came.
        wire: its method.
        method: None for one that the schema doesn't know.
        session: the session that it belongs to, if any.
        task: runs its handler.
        started: whether the handler has begun.
        turn_cancelled: a notification of the peer's has cancelled it (rule 21).
        turn_stopped: its task was cancelled for that.
        closing: its task was cancelled because the connection ends.
        cancel_awaited: a cancellation by its id has not come yet. Clients send one beside the notification.
        answered: the answer was sent without waiting for the handler.
        creates_session: whether its result names a new session.
    """

    __slots__ = (
        "answered",
        "cancel_awaited",
        "closing",
        "creates_session",
        "id",
        "method",
        "session",
        "started",
        "task",
        "turn_cancelled",
        "turn_stopped",
        "wire",
    )

    ordered = False

    def __init__(
        self, default: Default, id: RequestId, wire: str, method: Request[Any, Any] | None, session: str | None
    ) -> None:
        self.default = default
        self.weight = 0
        self.waiting = 0
        self.done = False
        self.id: RequestId = id
        self.wire: str = wire
        self.method: Request[Any, Any] | None = method
        self.session: str | None = session
        self.task: asyncio.Task[None] | None = None
        self.started: bool = False
        self.turn_cancelled: bool = False
        self.turn_stopped: bool = False
        self.closing: bool = False
        self.cancel_awaited: bool = True
        self.answered: bool = False
        self.creates_session: bool = method is not None and method.creates_session


# Set by connections alone, so what is in it is in flight.
current: ContextVar[InFlightMessage | None] = cast("ContextVar[InFlightMessage | None]", context.current)


def current_message() -> InFlightMessage | None:
    """The message whose handler is running this code, unless it has ended."""
    found = current.get()
    return None if found is None or found.done else found


def session_of(profile: Profile, params: Any) -> str | None:
    """The session that params belong to; None if to none."""
    if params.__class__ is dict:
        found = params.get(profile.session)
    else:
        found = getattr(params, profile.session_attribute, None)
    return found if isinstance(found, str) else None
