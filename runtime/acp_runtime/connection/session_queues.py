"""Session queues: the notifications of each session in order, and the outcomes that wait behind them (rules 15 and 16).

A queue and its task exist only while it has notifications, so an idle session costs nothing. Notifications for a new
session are kept until its caller has the session's id.
"""

from __future__ import annotations

import asyncio
import os
from collections import deque
from collections.abc import Iterable
from logging import DEBUG, WARNING, getLogger
from typing import Any, NamedTuple, Protocol, TypeAlias

from acp_runtime.connection.backpressure import Backpressure
from acp_runtime.connection.handler_tasks import HandlerTasks, ended_by_ctrl_c, leave_if_forked
from acp_runtime.connection.in_flight import Default, Handle, InFlightNotification, QueueLoad, current
from acp_runtime.connection.wrong_signatures import explain_wrong_signature
from acp_runtime.errors import ConnectionClosed
from acp_runtime.logs import ThrottledLogger
from acp_runtime.options import Options

Session: TypeAlias = str | None

# `asyncio.wait_for`, `gather` and similar functions pass a result on through their own tasks. Each takes two iterations
# of the event loop.
_DELIVERY_ITERATIONS = 32

_logger = getLogger(__name__)


class PendingOutcome(Protocol):
    """The outcome of a call, to be delivered when the notifications before it have been handled."""

    def deliver(self) -> None:
        """Resolve the caller's future."""
        ...

    def updates_lost(self, error: ConnectionClosed) -> None:
        """Fail the call: notifications before the response were not handled."""
        ...


class _Kept(NamedTuple):
    """A notification of a new session, with the arguments of `SessionQueues.put`."""

    wire: str
    handle: Handle
    argument: Any
    size: int


class _Queue:
    """A session queue.

    Attributes:
        waiting: the notifications whose handlers have not started.
        load: their number and size.
        arrived: the number of notifications so far.
        handled: the number of notifications so far whose handlers have ended.
        outcomes: those that wait, each with the number of notifications to be handled first.
    """

    __slots__ = ("arrived", "handled", "load", "outcomes", "waiting")

    def __init__(self) -> None:
        self.waiting: deque[InFlightNotification] = deque()
        self.load = QueueLoad()
        self.arrived: int = 0
        self.handled: int = 0
        self.outcomes: deque[tuple[int, PendingOutcome]] = deque()


class SessionQueues:
    """The session queues of a connection.

    Args:
        tasks: creates the tasks of the queues.
        backpressure: counts what waits and what is handled.
        default: the connection's default handling of a notification.
        options: the options of the connection.

    Attributes:
        sessions: those whose ids this side has used.
        handled: how many notifications have been handled so far.
    """

    def __init__(self, tasks: HandlerTasks, backpressure: Backpressure, default: Default, options: Options) -> None:
        self._tasks = tasks
        self._backpressure = backpressure
        self._default = default
        self._max_kept = options.high_water_messages
        self._max_kept_bytes = options.max_held_bytes
        self._loop = asyncio.get_running_loop()
        self._process_id = os.getpid()
        self._queues: dict[Session, _Queue] = {}
        self.sessions: set[str] = set()
        self._creations = 0
        # New sessions whose ids are on the way to their callers, and the calls that created them.
        self._being_delivered: dict[str, object] = {}
        self._kept: dict[str, list[_Kept]] = {}
        self._kept_count = 0
        self._kept_bytes = 0
        # Queues of kept notifications that were released at the limits, before their callers had the ids.
        self._overflowed: dict[str, _Queue] = {}
        self._idle: asyncio.Future[None] | None = None
        self._log = ThrottledLogger(_logger)
        self.handled: int = 0
        self._closing = False

    def put(self, session: Session, wire: str, handle: Handle, argument: Any, size: int) -> None:
        """Handle a notification of `size` bytes after the earlier ones of its session.

        Args:
            session: the session that it belongs to; None if it belongs to none.
            wire: its method.
            handle: its handler.
            argument: what the handler is called with.
            size: the length of its line.
        """
        queue = self._queues.get(session)
        if queue is None and self._creations and session is not None and session not in self.sessions:
            self._keep(session, _Kept(wire, handle, argument, size))
        else:
            self._enqueue(session, queue, wire, handle, argument, size)

    def when_handled(self, session: Session, outcome: PendingOutcome) -> None:
        """Deliver an outcome when the present notifications of its session have been handled."""
        queue = self._queues.get(session) if session is not None else None
        if queue is None:
            outcome.deliver()
        else:
            queue.outcomes.append((queue.arrived, outcome))

    def used(self, session: str) -> None:
        """Note that this side has used the id of a session: its notifications need not be kept."""
        self.sessions.add(session)
        self._release(session)
        if self._overflowed:
            self._end_overflow(session)

    def forget(self, session: str) -> None:
        """Forget a session that has ended."""
        self.sessions.discard(session)
        self._being_delivered.pop(session, None)

    def creating(self) -> None:
        """Note that a call that creates a session was sent."""
        self._creations += 1

    def created(self, session: str | None) -> None:
        """Note that such a call returns, with or without a session's id. Its caller has it some iterations later."""
        call = object()
        if session is not None:
            self._being_delivered[session] = call
        self._delivered(session, call, _DELIVERY_ITERATIONS if session is not None else 0)

    def release_all(self) -> None:
        """Handle all kept notifications, whether their callers have the ids or not."""
        for session in list(self._kept):
            self._release(session)

    @property
    def waiting(self) -> int:
        """The number of notifications whose handlers have not started."""
        return self._kept_count + sum(len(queue.waiting) for queue in self._queues.values())

    def when_idle(self) -> asyncio.Future[None]:
        """Return a future that is done when every queue is empty."""
        if self._idle is None:
            self._idle = self._loop.create_future()
        idle = self._idle
        self._end_idle()
        return idle

    def abandon(self, reason: ConnectionClosed) -> None:
        """Fail the calls whose outcomes wait for notifications that will not be handled."""
        for session, queue in self._queues.items():
            left = queue.arrived - queue.handled
            text = f"{reason.reason} {left} received notifications of session {session!r} had not been handled."
            for _, outcome in queue.outcomes:
                outcome.updates_lost(type(reason)(text, reason.exit_code, reason.stderr))
            queue.outcomes.clear()

    def end(self) -> None:
        """Handle nothing more. During shutdown, cancellation stops the whole queue instead of one handler."""
        self._closing = True
        self._kept.clear()
        self._kept_count = self._kept_bytes = 0

    def _delivered(self, session: str | None, call: object, iterations: int) -> None:
        """Wait for this many iterations of the event loop, then count the id of a new session as delivered."""
        if iterations:
            self._loop.call_soon(self._delivered, session, call, iterations - 1)
            return
        self._creations -= 1
        # Unless the session has ended since; another one with the same id may be on its way.
        if session is not None and self._being_delivered.get(session) is call:
            del self._being_delivered[session]
            if session not in self.sessions:
                self.used(session)
        if not self._creations:
            self.release_all()
            for each in list(self._overflowed):
                self._end_overflow(each)

    def _keep(self, session: str, kept: _Kept) -> None:
        self._kept.setdefault(session, []).append(kept)
        self._kept_count += 1
        self._kept_bytes += kept.size
        # Pausing the reader instead would deadlock: the response with the session's id comes behind these.
        if self._kept_count >= self._max_kept or self._kept_bytes >= self._max_kept_bytes:
            for each in list(self._kept):
                self._release_overflow(each)

    def _release_overflow(self, session: str) -> None:
        """Handle kept notifications now. Their handlers may wait for the session's id, so reading must not pause."""
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
        for kept in self._kept.pop(session, ()):
            self._kept_count -= 1
            self._kept_bytes -= kept.size
            self._enqueue(session, self._queues.get(session), *kept)

    def _enqueue(
        self, session: Session, queue: _Queue | None, wire: str, handle: Handle, argument: Any, size: int
    ) -> None:
        if queue is None:
            self._queues[session] = queue = _Queue()
            self._open(session, queue)
        notification = InFlightNotification(self._default, wire, handle, argument, size, queue.load)
        self._backpressure.enqueue(notification)
        queue.arrived += 1
        queue.waiting.append(notification)

    def _open(self, session: Session, queue: _Queue) -> None:
        self._backpressure.open_queue()
        self._tasks.create(self._handle_all(session, queue), lambda _: self._ended(session, queue))

    async def _handle_all(self, session: Session, queue: _Queue) -> None:
        while queue.waiting:
            notification = queue.waiting.popleft()
            self._backpressure.start(notification)
            current.set(notification)
            try:
                await notification.handle(notification.argument)
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
        # Here and not when the task has ended: until then, notifications could enter a queue without a task.
        self._close(session)

    def _deliver(self, queue: _Queue) -> None:
        while queue.outcomes and queue.outcomes[0][0] <= queue.handled:
            queue.outcomes.popleft()[1].deliver()

    def _failed(self, notification: InFlightNotification, error: BaseException) -> None:
        """Log the error of a handler, so that the notifications behind it are handled as well."""
        leave_if_forked(self._process_id, error)
        if isinstance(error, KeyboardInterrupt):
            ended_by_ctrl_c()
        if isinstance(error, (KeyboardInterrupt, GeneratorExit)):
            raise error
        if isinstance(error, ConnectionClosed):
            self._log.log(
                WARNING,
                "closed",
                "The handler of %s was stopped by the end of a connection: %s",
                notification.wire,
                error.reason,
            )
            return
        if not isinstance(error, asyncio.CancelledError):
            explain_wrong_signature(error)
            self._log.failed(notification.wire, error)
            return
        task = asyncio.current_task()
        if self._closing or task is None:
            raise error
        task.uncancel()
        self._log.log(DEBUG, "cancelled", "The handler of %s cancelled itself", notification.wire)

    def _ended(self, session: Session, queue: _Queue) -> None:
        """Clean up after the task of a queue. If the queue is still open, the task was cut short."""
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
