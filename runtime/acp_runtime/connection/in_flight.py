"""Messages in flight: the state of each while its handler runs, and the message whose handler runs the current code."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Any, TypeAlias, cast

from acp_runtime.jsonrpc.messages import RequestId
from acp_runtime.stubs import roles as context
from acp_runtime.stubs.methods import AnyMethod, Profile, Request

# The connection's handling of a notification whose handler calls the base class.
Default: TypeAlias = Callable[[AnyMethod, Any], None]
Handle: TypeAlias = Callable[[Any], Awaitable[Any]]

# Memory that a message of the usual size takes beside its bytes, once it is models: measured with updates.
_MODEL_BYTES = 2000


class QueueLoad:
    """How much waits in one queue.

    Attributes:
        count: the number of messages.
        weight: the memory that they take, in bytes.
        exemptions: the number of reasons not to pause reading because of them.
    """

    __slots__ = ("count", "exemptions", "weight")

    def __init__(self) -> None:
        self.count: int = 0
        self.weight: int = 0
        self.exemptions: int = 0


class InFlightMessage:
    """An incoming message from the time it is queued or started to the end of its handler.

    Attributes:
        default: the connection's default handling of a notification.
        weight: the memory that it takes, in bytes.
        peer_waits: how many times its handler is waiting for the peer; it may wait in several tasks.
        done: whether its handler has ended. Tasks that it started may still run in its context.
    """

    __slots__ = ("default", "done", "peer_waits", "weight")

    default: Default
    weight: int
    peer_waits: int
    done: bool


class InFlightNotification(InFlightMessage):
    """A notification in the queue of its session.

    Attributes:
        wire: its method.
        handle: its handler.
        argument: what the handler is called with.
        queue: the load of its session queue.
    """

    __slots__ = ("argument", "handle", "queue", "wire")

    # Sets the attributes of the base class as well: a second call would cost every update (benchmark row `stream`).
    def __init__(self, default: Default, wire: str, handle: Handle, argument: Any, size: int, queue: QueueLoad) -> None:
        self.default = default
        self.weight: int = size + _MODEL_BYTES
        self.peer_waits = 0
        self.done = False
        self.wire: str = wire
        self.handle: Handle = handle
        self.argument: Any = argument
        self.queue: QueueLoad = queue


class InFlightRequest(InFlightMessage):
    """A request whose handler was started.

    Attributes:
        id: as it was received.
        wire: its method.
        method: None if the schema doesn't have it.
        session: the session that it belongs to, if any.
        task: runs its handler; None before it is created and after it has ended.
        started: whether the handler has begun.
        turn_cancelled: whether the peer cancelled it by a notification for its session (rule 21).
        turn_stopped: whether its task was cancelled for that reason.
        closing: whether its task was cancelled because the connection ends.
        cancel_awaited: whether no cancellation by its id has arrived yet. Clients send one beside the notification.
        answered: whether the response was sent without waiting for the handler.
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

    def __init__(
        self,
        default: Default,
        id: RequestId,
        wire: str,
        method: Request[Any, Any] | None,
        session: str | None,
        size: int,
    ) -> None:
        self.default = default
        self.weight: int = size + _MODEL_BYTES
        self.peer_waits = 0
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


# Only connections set it, so it holds messages in flight.
current: ContextVar[InFlightMessage | None] = cast("ContextVar[InFlightMessage | None]", context.current)


def current_message() -> InFlightMessage | None:
    """Return the message whose handler runs the current code; None if that has ended or there is none."""
    found = current.get()
    return None if found is None or found.done else found


def session_of(profile: Profile, params: Any) -> str | None:
    """Return the session that params belong to; None if they belong to none."""
    if params.__class__ is dict:
        found = params.get(profile.session)
    else:
        found = getattr(params, profile.session_attribute, None)
    return found if isinstance(found, str) else None
