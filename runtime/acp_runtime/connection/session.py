"""The queues of the sessions: received notifications in order, and the outcomes of calls behind them.

* The notifications of a session are *queued* and handled one after the other (rule 15), by a task that exists only
  while there are some. The outcomes of calls come into the same queue, and so to their callers when the notifications
  received before them have been handled (rule 16).
* The queue of a session whose id is on its way to the caller is *held*: it has no task until the caller uses the id,
  for a short time after it has the id, or until too much is held (rule 16).

Notifications of this side to a session that the peer doesn't know yet are in `held.py`.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from logging import getLogger
from typing import Any, NamedTuple

from acp_runtime.connection.ids import RecentIds
from acp_runtime.connection.in_flight import InFlightNotification, Tasks, current, log_failure
from acp_runtime.connection.limits import Limits
from acp_runtime.errors import ConnectionClosed
from acp_runtime.logs import ThrottledLogger

# `asyncio.wait_for`, `gather` and similar functions pass a result on through their own tasks. Each takes two iterations
# of the event loop.
_DELIVERY_ITERATIONS = 32

_logger = getLogger(__name__)


class Outcome(NamedTuple):
    """The result or the error of a call, and the function that gives it to the caller."""

    resolve: Callable[[Any, BaseException | None], None]
    result: Any
    error: BaseException | None


class SessionQueue:
    """The queue of a session. Notifications that belong to no session have one, too.

    Attributes:
        id: the session's id; None for the notifications that belong to no session.
        queue: notifications whose handlers have not begun, and outcomes behind them.
        task: handles them; None if the queue is empty or held.
    """

    __slots__ = ("_sessions", "id", "queue", "task")

    def __init__(self, sessions: Sessions, id: str | None) -> None:
        self._sessions = sessions
        self.id: str | None = id
        self.queue: deque[InFlightNotification | Outcome] = deque()
        self.task: asyncio.Task[None] | None = None

    def release(self) -> None:
        """Handle the notifications of a queue that is held."""
        if self.queue and self.task is None:
            self.start()

    def deliver(self, outcome: Outcome) -> None:
        """Deliver an outcome when the present notifications have been handled, those that are held as well."""
        self.release()
        if self.task is None:
            outcome.resolve(outcome.result, outcome.error)
        else:
            self.queue.append(outcome)

    def discard(self, reason: ConnectionClosed) -> None:
        """Drop the queued notifications, and fail the calls whose outcomes are behind them."""
        limits, queue = self._sessions.limits, tuple(self.queue)
        self.queue.clear()
        left = sum(isinstance(message, InFlightNotification) for message in queue) + (self.task is not None)
        text = f"{reason.reason} {left} received notifications of session {self.id!r} had not been handled."
        for message in queue:
            if isinstance(message, Outcome):
                message.resolve(None, type(reason)(text, reason.exit_code, reason.stderr))
            else:
                limits.begin(message.size)
                message.end()

    def start(self) -> None:
        """Handle what is queued, in a task."""
        self.task = self._sessions.handler_tasks.create(self._handle_all(), self._ended)

    async def _handle_all(self) -> None:
        sessions, limits = self._sessions, self._sessions.limits
        while self.queue:
            message = self.queue.popleft()
            if isinstance(message, Outcome):
                message.resolve(message.result, message.error)
                await asyncio.sleep(0)  # the caller has it before the next notification is handled
                continue
            limits.begin(message.size)
            current.set(message)
            try:
                await message.handle(message.argument)
            except BaseException as error:
                if isinstance(error, (KeyboardInterrupt, GeneratorExit, asyncio.CancelledError)):
                    raise
                log_failure(sessions.log, message.wire, error)  # the notifications behind it are handled as well
            finally:
                message.end()
            if self.task is not None and self.task.cancelling():
                return  # its cancellation would interrupt the next handler; another task goes on
        # Here and not when the task has ended: until then, notifications could come and have no task.
        self.task = None
        del sessions.by_id[self.id]

    def _ended(self, task: asyncio.Task[None]) -> None:
        """Restart the task if it ended early because a handler was cancelled."""
        if self.task is task:
            self.task = None
            if self.queue:
                self.start()
            else:
                del self._sessions.by_id[self.id]


class Sessions:
    """The sessions of one connection.

    Args:
        tasks: for the tasks that handle notifications.
        limits: count the notifications.
        max_held_bytes: how much is queued, at most, while queues are held.

    Attributes:
        by_id: the queues of those that have notifications to be handled.
        used: the sessions that this side has used.
        creating_calls: how many calls of this side that create sessions have not returned, or only just did.
    """

    def __init__(self, tasks: Tasks, limits: Limits, max_held_bytes: int) -> None:
        self.handler_tasks: Tasks = tasks
        self.limits: Limits = limits
        self._max_held_bytes = max_held_bytes
        self.by_id: dict[str | None, SessionQueue] = {}
        self.used: RecentIds = RecentIds()
        self.creating_calls: int = 0
        self._loop = asyncio.get_running_loop()
        self.log: ThrottledLogger = ThrottledLogger(_logger)

    def put(self, id: str | None, notification: InFlightNotification) -> None:
        """Handle a notification of a session after the earlier ones."""
        queue = self.by_id.get(id)
        if queue is None:
            self.by_id[id] = queue = SessionQueue(self, id)
        queue.queue.append(notification)
        self.limits.add_queued(notification.size)
        if queue.task is None:
            if not self.creating_calls or id is None or id in self.used:
                queue.start()
            elif self.limits.exceeds(1) or self.limits.queued_bytes >= self._max_held_bytes:
                # Pausing the reader instead would deadlock: the response with the session's id comes behind these.
                self.release_all()

    def use(self, id: str) -> None:
        """Note that this side uses the id of a session: its queue need not be held."""
        self.used.add(id)
        queue = self.by_id.get(id)
        if queue is not None:
            queue.release()

    @property
    def tasks(self) -> list[asyncio.Task[None]]:
        """The tasks that handle notifications."""
        return [session.task for session in self.by_id.values() if session.task is not None]

    def end(self, reason: ConnectionClosed) -> None:
        """Handle no further notification."""
        for session in tuple(self.by_id.values()):
            session.discard(reason)

    # New sessions of this side's calls: their queues are held.

    def begin_creation(self) -> None:
        """Note that a call was sent that creates a session."""
        self.creating_calls += 1
        self.limits.block()

    def end_creation(self, id: str | None) -> None:
        """Note that such a call returns, with or without the id of a session. Its caller has it a little later."""
        self.limits.unblock()
        self._created(id, _DELIVERY_ITERATIONS if id is not None else 0)

    def _created(self, id: str | None, iterations: int) -> None:
        if iterations:
            self._loop.call_soon(self._created, id, iterations - 1)
            return
        self.creating_calls -= 1
        if id is not None:
            self.use(id)
        if not self.creating_calls:
            self.release_all()

    def release_all(self) -> None:
        """Handle the notifications of all queues that are held, whether their callers have the ids or not."""
        for session in tuple(self.by_id.values()):
            session.release()
