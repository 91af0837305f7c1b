"""Notifications in order: one queue a session, and the answers that wait behind them (rules 15 and 16).

A queue and its task live while there is something in it, so an idle session costs nothing. Notifications for a session
whose id the caller doesn't have yet are kept until it does. Knows sessions only as keys.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from logging import DEBUG, WARNING, getLogger
from typing import Any, Protocol, TypeAlias

from acp_runtime.connection.backpressure import Backpressure
from acp_runtime.connection.in_flight import InFlightNotification, QueueLoad, current
from acp_runtime.errors import ConnectionClosed
from acp_runtime.logs import ThrottledLogger
from acp_runtime.options import Options

Session: TypeAlias = str | None
Ended: TypeAlias = Callable[["asyncio.Task[Any]"], None]
Spawn: TypeAlias = Callable[[Any, Ended], "asyncio.Task[Any]"]

# `asyncio.wait_for`, `gather` and their like pass a result on through tasks of their own, which takes two turns each.
_DELIVERY_TURNS = 32

_logger = getLogger(__name__)


class PendingOutcome(Protocol):
    """The outcome of a call, to be delivered when the notifications before it have been handled."""

    def deliver(self) -> None:
        """Resolve the caller."""
        ...

    def updates_lost(self, error: ConnectionClosed) -> None:
        """Fail the caller: notifications before the answer were not handled."""
        ...


class _Queue:
    """The notifications of a session that wait, how many came and were handled, and answers with what they wait for."""

    __slots__ = ("arrived", "handled", "load", "outcomes", "waiting")

    def __init__(self) -> None:
        self.waiting: deque[InFlightNotification] = deque()
        self.load = QueueLoad()
        self.arrived: int = 0
        self.handled: int = 0
        self.outcomes: deque[tuple[int, PendingOutcome]] = deque()


class SessionQueues:
    """The queues of a connection.

    Args:
        spawn: creates a task that the connection owns, and tells of its end.
        backpressure: is told of what waits and what is handled.
        options: of the connection.

    Attributes:
        sessions: those whose ids this side has used.
        handled: how many notifications have been handled so far.
    """

    def __init__(self, spawn: Spawn, backpressure: Backpressure, options: Options) -> None:
        self._spawn = spawn
        self._backpressure = backpressure
        self._max_kept = options.high_water_messages
        self._max_kept_bytes = options.max_held_bytes
        self._loop = asyncio.get_running_loop()
        self._queues: dict[Session, _Queue] = {}
        self.sessions: set[str] = set()
        self._creations = 0
        # Sessions whose callers have their results soon, and the calls that created them.
        self._being_delivered: dict[str, object] = {}
        self._kept: dict[str, list[tuple[InFlightNotification, int]]] = {}
        self._kept_count = 0
        self._kept_bytes = 0
        self._overflowed: dict[str, _Queue] = {}
        self._idle: asyncio.Future[None] | None = None
        self._log = ThrottledLogger(_logger)
        self.handled: int = 0
        self._closing = False

    def put(self, session: Session, notification: InFlightNotification, size: int) -> None:
        """Handle a notification of `size` bytes after those of its session that came before it."""
        queue = self._queues.get(session)
        if queue is None and self._creations and session is not None and session not in self.sessions:
            self._keep(session, notification, size)
        else:
            self._enqueue(session, queue, notification, size)

    def when_handled(self, session: Session, outcome: PendingOutcome) -> None:
        """Deliver an answer when the notifications of its session that are here have been handled."""
        queue = self._queues.get(session) if session is not None else None
        if queue is None:
            outcome.deliver()
        else:
            queue.outcomes.append((queue.arrived, outcome))

    def used(self, session: str) -> None:
        """This side has used the id of a session, so its notifications need not be kept."""
        self.sessions.add(session)
        self._release(session)
        if self._overflowed:
            self._end_overflow(session)

    def forget(self, session: str) -> None:
        """A session has ended."""
        self.sessions.discard(session)
        self._being_delivered.pop(session, None)

    def creating(self) -> None:
        """A call is out whose result names a new session."""
        self._creations += 1

    def created(self, session: str | None) -> None:
        """Such a call returns now, with the id of a session or without one. Its caller gets there some turns later."""
        call = object()
        if session is not None:
            self._being_delivered[session] = call
        self._delivered(session, call, _DELIVERY_TURNS if session is not None else 0)

    def release_all(self) -> None:
        """Handle what is kept, whoever has which id."""
        for session in list(self._kept):
            self._release(session)

    @property
    def waiting(self) -> int:
        """How many notifications are not handled yet, those aside whose handlers run."""
        return self._kept_count + sum(len(queue.waiting) for queue in self._queues.values())

    def when_idle(self) -> asyncio.Future[None]:
        """Done when every queue is empty."""
        if self._idle is None:
            self._idle = self._loop.create_future()
        idle = self._idle
        self._end_idle()
        return idle

    def abandon(self, reason: ConnectionClosed) -> None:
        """Fail the answers that wait for notifications which will not be handled."""
        for session, queue in self._queues.items():
            left = queue.arrived - queue.handled
            text = f"{reason.reason} {left} received notifications of session {session!r} had not been handled."
            for _, outcome in queue.outcomes:
                outcome.updates_lost(type(reason)(text, reason.exit_code, reason.stderr))
            queue.outcomes.clear()

    def end(self) -> None:
        """Handle nothing more. From now on a cancellation stops a whole queue, not one handler."""
        self._closing = True
        self._kept.clear()
        self._kept_count = self._kept_bytes = 0

    def _delivered(self, session: str | None, call: object, turns: int) -> None:
        if turns:
            self._loop.call_soon(self._delivered, session, call, turns - 1)
            return
        self._creations -= 1
        # Unless it has ended meanwhile, and perhaps another one with its id is on its way.
        if session is not None and self._being_delivered.get(session) is call:
            del self._being_delivered[session]
            if session not in self.sessions:
                self.used(session)
        if not self._creations:
            self.release_all()
            for each in list(self._overflowed):
                self._end_overflow(each)

    def _keep(self, session: str, notification: InFlightNotification, size: int) -> None:
        self._kept.setdefault(session, []).append((notification, size))
        self._kept_count += 1
        self._kept_bytes += size
        # Early is better than never: keeping more would have to stop the reader, which the answer is behind.
        if self._kept_count >= self._max_kept or self._kept_bytes >= self._max_kept_bytes:
            for each in list(self._kept):
                self._release_overflow(each)

    def _release_overflow(self, session: str) -> None:
        """Handle what is kept, although its session may be the one that is being created and handlers wait for that."""
        self._release(session)
        queue = self._queues[session]
        if self._overflowed.get(session) is not queue:
            self._overflowed[session] = queue
            self._backpressure.exempt(queue.load)

    def _end_overflow(self, session: str) -> None:
        queue = self._overflowed.pop(session, None)
        if queue is not None:
            self._backpressure.end_exemption(queue.load)

    def _release(self, session: str) -> None:
        for notification, size in self._kept.pop(session, ()):
            self._kept_count -= 1
            self._kept_bytes -= size
            self._enqueue(session, self._queues.get(session), notification, size)

    def _enqueue(self, session: Session, queue: _Queue | None, notification: InFlightNotification, size: int) -> None:
        if queue is None:
            self._queues[session] = queue = _Queue()
            self._open(session, queue)
        self._backpressure.enqueue(notification, size, queue.load)
        queue.arrived += 1
        queue.waiting.append(notification)

    def _open(self, session: Session, queue: _Queue) -> None:
        self._backpressure.open_queue()
        self._spawn(self._handle_all(session, queue), lambda _: self._ended(session, queue))

    async def _handle_all(self, session: Session, queue: _Queue) -> None:
        while queue.waiting:
            notification = queue.waiting.popleft()
            self._backpressure.start(notification)
            current.set(notification)
            try:
                await notification.handle(notification.params)
            except BaseException as error:
                self._failed(notification, error)
            finally:
                self._backpressure.end(notification)
                queue.handled += 1
                self.handled += 1
            if queue.outcomes:
                self._deliver(queue)
            if self._closing:
                return  # although the handler has swallowed its cancellation
        # Here and not when the task has ended: what arrives in between would be put into a queue that nobody empties.
        self._close(session)

    def _deliver(self, queue: _Queue) -> None:
        while queue.outcomes and queue.outcomes[0][0] <= queue.handled:
            queue.outcomes.popleft()[1].deliver()

    def _failed(self, notification: InFlightNotification, error: BaseException) -> None:
        """Whatever a handler raises, the notifications behind it are handled as well."""
        if isinstance(error, (KeyboardInterrupt, GeneratorExit)):
            raise error
        if isinstance(error, ConnectionClosed):
            self._log.log(WARNING, "closed", "The handler of %s was ended: %s", notification.wire, error.reason)
            return
        if not isinstance(error, asyncio.CancelledError):
            self._log.failed(notification.wire, error)
            return
        task = asyncio.current_task()
        if self._closing or task is None:
            raise error
        task.uncancel()
        self._log.log(DEBUG, "cancelled", "The handler of %s cancelled itself", notification.wire)

    def _ended(self, session: Session, queue: _Queue) -> None:
        """The task has ended; not by itself if the queue is still here."""
        self._backpressure.close_queue()
        if self._queues.get(session) is not queue:
            return
        self._deliver(queue)
        if queue.waiting and not self._closing:
            self._open(session, queue)
            return
        self._discard(queue.waiting)
        self._close(session)
        for _, outcome in queue.outcomes:
            outcome.updates_lost(ConnectionClosed("The connection was closed before all notifications were handled."))

    def _discard(self, notifications: Iterable[InFlightNotification]) -> None:
        for notification in notifications:
            self._backpressure.discard(notification)

    def _close(self, session: Session) -> None:
        del self._queues[session]
        self._end_idle()

    def _end_idle(self) -> None:
        if self._idle is not None and not self._queues:
            self._idle.set_result(None)
            self._idle = None
