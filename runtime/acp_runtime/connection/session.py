"""The sessions of a connection, and the notifications for them, in both directions.

* The received notifications of a session are queued and handled one after the other (rule 15), by a task that exists
  only while there are some. The outcomes of calls come into the same queue, and so to their callers when the
  notifications received before them have been handled (rule 16).
* A notification may be for a session whose id is still on its way, in the response that creates the session. It is
  *held* until its receiver knows the id. The queue of a received one has no task until the caller uses the id, for a
  short time after the response, or until too much is held (rule 16). One that this side sends is kept until the
  response has left (rule 17).
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from logging import WARNING, getLogger
from typing import Any, NamedTuple

from acp_runtime.connection.ids import RecentIds
from acp_runtime.connection.in_flight import Handle, InFlight, InFlightNotification, Tasks, current, log_failure
from acp_runtime.connection.limits import Limits
from acp_runtime.errors import ConnectionClosed, GuardError
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
        self.queue.append(outcome)
        self.release()

    def discard(self, reason: ConnectionClosed) -> None:
        """Drop the queued notifications, and fail the calls whose outcomes are behind them."""
        limits, queue = self._sessions.limits, tuple(self.queue)
        self.queue.clear()
        unhandled = sum(isinstance(message, InFlightNotification) for message in queue) + (self.task is not None)
        text = f"{reason.reason} {unhandled} received notifications of session {self.id!r} had not been handled."
        for message in queue:
            if isinstance(message, Outcome):
                message.resolve(None, type(reason)(text, reason.exit_code, reason.stderr))
            else:
                limits.begin(message.size)
                message.end()

    def start(self) -> None:
        """Handle what is queued, in a task."""
        self.task = self._sessions.tasks.create(self._handle_all(), self._ended)

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
        del sessions.queues[self.id]

    def _ended(self, task: asyncio.Task[None]) -> None:
        """Restart the task if it ended early because a handler was cancelled."""
        if self.task is task:
            self.task = None
            if self.queue:
                self.start()
            else:
                del self._sessions.queues[self.id]


class _HeldLine(NamedTuple):
    """A line to a session, and the message whose handler sent it, if one did."""

    session: str
    sender: InFlight | None
    line: bytes


class Sessions:
    """The sessions of one connection.

    Args:
        tasks: for the tasks that handle notifications.
        limits: count the received notifications.
        send: sends a line.
        max_held_bytes: how much is held at most, in each direction.

    Attributes:
        queues: the queues of those that have notifications to be handled, by id.
        used: those that this side has used.
        used_by_peer: those that the peer has used, or whose ids it was sent.
        creating_calls: how many calls of this side that create sessions have not returned, or only just did.
        creating_requests: the peer's requests in flight that create sessions.
    """

    def __init__(self, tasks: Tasks, limits: Limits, send: Callable[[bytes], object], max_held_bytes: int) -> None:
        self.tasks: Tasks = tasks
        self.limits: Limits = limits
        self.log: ThrottledLogger = ThrottledLogger(_logger)
        self.queues: dict[str | None, SessionQueue] = {}
        self.used: RecentIds = RecentIds()
        self.used_by_peer: RecentIds = RecentIds()
        self.creating_calls: int = 0
        self.creating_requests: set[InFlight] = set()
        self._send = send
        self._max_held_bytes = max_held_bytes
        self._held_lines: list[_HeldLine] = []
        self._held_bytes = 0
        self._loop = asyncio.get_running_loop()

    def forget(self, id: str) -> None:
        """Note that a session has ended."""
        self.used.discard(id)
        self.used_by_peer.discard(id)

    # Received notifications. Those to new sessions are held while calls of this side create sessions.

    def put(self, id: str | None, notification: InFlightNotification) -> None:
        """Handle a notification of a session after the earlier ones."""
        queue = self.queues.get(id)
        if queue is None:
            self.queues[id] = queue = SessionQueue(self, id)
        queue.queue.append(notification)
        self.limits.add_queued(notification.size)
        if queue.task is None:
            if not self.creating_calls or id is None or id in self.used:
                queue.start()
            elif self.limits.exceeds(1) or self.limits.queued_bytes >= self._max_held_bytes:
                # Pausing the reader instead would deadlock: the response with the session's id comes behind these.
                self.release_all()

    async def wait_handled(self, id: str) -> None:
        """Wait until the present notifications of a session have been handled, those that are held as well.

        Raises:
            ConnectionClosed: if they were discarded.
        """

        def resolve(_: object, error: BaseException | None) -> None:
            if handled.done():  # its waiter was cancelled
                return
            if error is None:
                handled.set_result(None)
            else:
                handled.set_exception(error)

        queue = self.queues.get(id)
        if queue is not None:
            handled = self._loop.create_future()
            queue.deliver(Outcome(resolve, None, None))
            await handled

    def after_notifications(self, id: str, wire: str, handle: Handle, deadline: float) -> Handle:
        """Return the handler of a request that waits until the present notifications of a session have been handled.

        It doesn't wait for those that are held: the response with the session's id may come after this request. If
        none of them ends within `deadline` seconds, it goes on, since they may wait for the request.
        """
        queue = self.queues.get(id)
        if queue is None or queue.task is None:
            return handle
        messages, handled = queue.queue, self._loop.create_future()

        def resolve(*_: object) -> None:
            handled.set_result(None)

        outcome = Outcome(resolve, None, None)
        messages.append(outcome)

        async def wait_and_handle(argument: Any) -> Any:
            while not handled.done():
                ahead = messages.index(outcome)
                await asyncio.wait({handled}, timeout=deadline)
                if not handled.done() and messages.index(outcome) == ahead:
                    text = "Handling %s before the notifications that came first (Options.handler_deadline)"
                    self.log.log(WARNING, "overtaken", text, wire)
                    break
            return await handle(argument)

        return wait_and_handle

    @property
    def running(self) -> list[asyncio.Task[None]]:
        """The tasks that handle notifications."""
        return [queue.task for queue in self.queues.values() if queue.task is not None]

    def use(self, id: str) -> None:
        """Note that this side uses the id of a session: its queue need not be held."""
        self.used.add(id)
        queue = self.queues.get(id)
        if queue is not None:
            queue.release()

    def begin_call(self) -> None:
        """Note that a call was sent that creates a session."""
        self.creating_calls += 1
        self.limits.block()

    def end_call(self, id: str | None) -> None:
        """Note that such a call returns, with or without the id of a session. Its caller has it a little later."""
        self.limits.unblock()
        self._delivered(id, _DELIVERY_ITERATIONS if id is not None else 0)

    def _delivered(self, id: str | None, iterations: int) -> None:
        if iterations:
            self._loop.call_soon(self._delivered, id, iterations - 1)
            return
        self.creating_calls -= 1
        if id is not None:
            self.use(id)
        if not self.creating_calls:
            self.release_all()

    def release_all(self) -> None:
        """Handle the notifications of all queues that are held, whether their callers have the ids or not."""
        for queue in tuple(self.queues.values()):
            queue.release()

    def discard_all(self, reason: ConnectionClosed) -> None:
        """Handle no further notification."""
        for queue in tuple(self.queues.values()):
            queue.discard(reason)

    # Notifications of this side. Those to new sessions are held while the peer's requests create sessions.

    def send(self, id: str | None, line: bytes) -> None:
        """Send the line of a notification to a session, or hold it.

        Raises:
            GuardError: if more than the limit would be held.
        """
        if id is None or id in self.used_by_peer or not self.creating_requests:
            self._send(line)
            return
        if self._held_bytes + len(line) > self._max_held_bytes:
            raise GuardError(
                f"Notifications to session {id!r} are held until the response that creates it is sent, and exceed "
                f"{self._max_held_bytes} bytes (Options.max_held_bytes). Return from the handler, then send them."
            )
        self._held_lines.append(_HeldLine(id, current.get(), line))
        self._held_bytes += len(line)

    def use_by_peer(self, id: str) -> None:
        """Note that the peer uses the id of a session, and send what was held for it."""
        self.used_by_peer.add(id)
        if self._held_lines:
            self._send_held(lambda held: held.session == id)

    def end_request(self, request: InFlight, id: str | None) -> None:
        """Note that a request that creates a session was answered, with its id or without one.

        What its handler has sent leaves now, or is dropped if there is no session. So is what came from elsewhere when
        no other creating request is in flight.
        """
        self.creating_requests.discard(request)
        if id is not None:
            self.used_by_peer.add(id)
            self._send_held(lambda held: held.session == id or held.sender is request or not self.creating_requests)
        elif dropped := self._take_held(lambda held: held.sender is request or not self.creating_requests):
            message = "Dropped %s notifications to a session that was not created"
            self.log.log(WARNING, "dropped", message, len(dropped))

    def _send_held(self, may_leave: Callable[[_HeldLine], bool]) -> None:
        for held in self._take_held(may_leave):
            self._send(held.line)

    def _take_held(self, may_leave: Callable[[_HeldLine], bool]) -> list[_HeldLine]:
        """Remove the lines that may leave, and return them in order."""
        leaving = [held for held in self._held_lines if may_leave(held)]
        if leaving:
            self._held_lines = [held for held in self._held_lines if not may_leave(held)]
            self._held_bytes -= sum(len(held.line) for held in leaving)
        return leaving
