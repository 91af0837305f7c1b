"""What a connection knows of each session: its notifications in order, and what waits for them or for its name.

* Received notifications *wait* and are handled one after the other (rule 15), by a task that exists only while there
  are some. The outcomes of calls wait in the same queue, and so come to their callers when the notifications received
  before them have been handled (rule 16).
* Notifications of a session whose id is on its way to the caller are *kept*: they wait without a task until the caller
  uses the id, for a short time after it has the id, or until too much is kept (rule 16).
* Notifications of this side to a session that the peer doesn't know yet are *held* until the response that names the
  session has left (rule 17).
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from logging import WARNING, getLogger
from typing import TYPE_CHECKING, Any, NamedTuple

from acp_runtime.connection.handler import Message, current, leave_if_forked, log_failure
from acp_runtime.errors import ConnectionClosed, GuardError
from acp_runtime.logs import ThrottledLogger

if TYPE_CHECKING:
    from acp_runtime.connection.call import Call
    from acp_runtime.connection.connection import Connection

# `asyncio.wait_for`, `gather` and similar functions pass a result on through their own tasks. Each takes two iterations
# of the event loop.
_DELIVERY_ITERATIONS = 32

_logger = getLogger(__name__)


class Notification(Message):
    """A notification of the peer."""

    __slots__ = ()


class Outcome(NamedTuple):
    """The result or the error of a call."""

    call: Call
    result: Any
    error: BaseException | None


class Session:
    """A session that has notifications to be handled. Those that belong to no session have one, too.

    Attributes:
        id: its id; None for the notifications that belong to no session.
        waiting: notifications whose handlers have not begun, and outcomes behind them.
        task: handles them; None if none wait or they are kept.
    """

    __slots__ = ("_sessions", "id", "task", "waiting")

    def __init__(self, sessions: Sessions, id: str | None) -> None:
        self._sessions = sessions
        self.id: str | None = id
        self.waiting: deque[Notification | Outcome] = deque()
        self.task: asyncio.Task[None] | None = None

    def put(self, notification: Notification) -> None:
        """Handle a notification after the earlier ones."""
        sessions, limits = self._sessions, self._sessions.connection.limits
        self.waiting.append(notification)
        limits.add_waiting(notification.size)
        if self.task is None:
            if not sessions.creating_calls or self.id is None or self.id in sessions.used:
                self._start()
            elif limits.is_full or limits.waiting_bytes >= sessions.connection.options.max_held_bytes:
                # Pausing the reader instead would deadlock: the response with the session's id comes behind these.
                sessions.release_all()

    def release(self) -> None:
        """Handle the notifications that are kept."""
        if self.waiting and self.task is None:
            self._start()

    def deliver(self, outcome: Outcome) -> None:
        """Deliver an outcome when the present notifications have been handled, those that are kept as well."""
        self.release()
        if self.task is None:
            outcome.call.resolve(outcome.result, outcome.error)
        else:
            self.waiting.append(outcome)

    def discard(self, reason: ConnectionClosed) -> None:
        """Drop the notifications that wait, and fail the calls whose outcomes wait for them."""
        limits, waiting = self._sessions.connection.limits, tuple(self.waiting)
        self.waiting.clear()
        left = sum(isinstance(each, Notification) for each in waiting) + (self.task is not None)
        text = f"{reason.reason} {left} received notifications of session {self.id!r} had not been handled."
        for each in waiting:
            if isinstance(each, Outcome):
                each.call.resolve(None, type(reason)(text, reason.exit_code, reason.stderr))
            else:
                limits.begin(each.size)
                limits.end(each)

    def _start(self) -> None:
        self.task = self._sessions.connection.create_task(self._handle_all(), self._ended)

    async def _handle_all(self) -> None:
        sessions, limits = self._sessions, self._sessions.connection.limits
        while self.waiting:
            message = self.waiting.popleft()
            if isinstance(message, Outcome):
                message.call.resolve(message.result, message.error)
                continue
            limits.begin(message.size)
            current.set(message)
            try:
                await message.handle(message.argument)
            except BaseException as error:
                sessions.handler_failed(message, error)
            finally:
                limits.end(message)
            if self.task is not None and self.task.cancelling():
                return  # its cancellation would interrupt the next handler; another task goes on
        # Here and not when the task has ended: until then, notifications could come and have no task.
        self.task = None
        del sessions.by_id[self.id]

    def _ended(self, task: asyncio.Task[None]) -> None:
        """If the task ended early, because a handler was cancelled, start another one."""
        if self.task is task:
            self.task = None
            if self.waiting:
                self._start()
            else:
                del self._sessions.by_id[self.id]


class _Held(NamedTuple):
    """A line for a session, and the creating request whose handler sent it, if one did."""

    session: str
    sender: Message | None
    line: bytes


class Sessions:
    """The sessions of one connection.

    Args:
        connection: the connection.

    Attributes:
        by_id: those that have notifications to be handled.
        used: the ids that this side has used.
        known: the ids that the peer has used or received.
        creating_calls: how many calls of this side that create sessions have not returned, or only just did.
        creating_requests: the peer's requests in flight whose results name new sessions.
    """

    def __init__(self, connection: Connection) -> None:
        self.connection: Connection = connection
        self.by_id: dict[str | None, Session] = {}
        self.used: set[str] = set()
        self.known: set[str] = set()
        self.creating_calls: int = 0
        self.creating_requests: set[Message] = set()
        self._held: list[_Held] = []
        self._held_bytes = 0
        self._log = ThrottledLogger(_logger)

    def get(self, id: str | None) -> Session:
        """Return a session, to put a notification into it."""
        found = self.by_id.get(id)
        if found is None:
            self.by_id[id] = found = Session(self, id)
        return found

    def use(self, id: str) -> None:
        """Note that this side uses the id of a session: its notifications need not be kept."""
        self.used.add(id)
        found = self.by_id.get(id)
        if found is not None:
            found.release()

    def forget(self, id: str) -> None:
        """Forget the id of a session that has ended."""
        self.used.discard(id)
        self.known.discard(id)

    @property
    def tasks(self) -> list[asyncio.Task[None]]:
        """The tasks that handle notifications."""
        return [session.task for session in self.by_id.values() if session.task is not None]

    def end(self, reason: ConnectionClosed) -> None:
        """Handle no further notification."""
        for session in tuple(self.by_id.values()):
            session.discard(reason)

    def handler_failed(self, notification: Notification, error: BaseException) -> None:
        """Log the error of a handler, so that the notifications behind it are handled as well."""
        leave_if_forked(self.connection.process_id, error)
        if isinstance(error, (KeyboardInterrupt, GeneratorExit, asyncio.CancelledError)):
            raise error
        log_failure(self._log, notification.wire, error)

    # New sessions of this side's calls: their notifications are kept.

    def begin_creation_by_peer(self) -> None:
        """Note that a call was sent that creates a session."""
        self.creating_calls += 1
        self.connection.limits.block()

    def end_creation_by_peer(self, id: str | None) -> None:
        """Note that such a call returns, with or without the id of a session. Its caller has it a little later."""
        self.connection.limits.blocked -= 1
        self._created(id, _DELIVERY_ITERATIONS if id is not None else 0)

    def _created(self, id: str | None, iterations: int) -> None:
        if iterations:
            self.connection.loop.call_soon(self._created, id, iterations - 1)
            return
        self.creating_calls -= 1
        if id is not None:
            self.use(id)
        if not self.creating_calls:
            self.release_all()

    def release_all(self) -> None:
        """Handle all notifications that are kept, whether their callers have the ids or not."""
        for session in tuple(self.by_id.values()):
            session.release()

    # New sessions of the peer's requests: notifications to them are held.

    def known_by_peer(self, id: str) -> None:
        """Note that the peer knows the id of a session, and send what was held for it."""
        self.known.add(id)
        if self._held:
            self._send_held(lambda held: held.session == id)

    def holds(self, id: str | None) -> bool:
        """Whether a notification to a session has to be held."""
        return bool(self.creating_requests) and id is not None and id not in self.known

    def hold(self, id: str, line: bytes) -> None:
        """Hold a line.

        Raises:
            GuardError: if more than the limit would be held.
        """
        limit = self.connection.options.max_held_bytes
        if self._held_bytes + len(line) > limit:
            raise GuardError(
                f"Notifications to session {id!r} are held until the response that creates it is sent, and they "
                f"exceed {limit} bytes (Options.max_held_bytes). Return from the handler, then send them."
            )
        sender = current.get()
        self._held.append(_Held(id, sender if sender in self.creating_requests else None, line))
        self._held_bytes += len(line)

    def end_creation(self, creation: Message, id: str | None) -> None:
        """Note that a request that creates a session was answered, with its id or without one.

        What its handler has sent leaves now, or is dropped if there is no session. So is what came from elsewhere when
        no other creation is in flight.
        """
        self.creating_requests.discard(creation)
        if id is not None:
            self.known.add(id)
            self._send_held(lambda held: held.session == id or held.sender is creation or not self.creating_requests)
        elif dropped := self._take_held(lambda held: held.sender is creation or not self.creating_requests):
            self._log.log(
                WARNING, "dropped", "Dropped %s notifications to a session that was not created", len(dropped)
            )

    def _send_held(self, may_leave: Callable[[_Held], bool]) -> None:
        for held in self._take_held(may_leave):
            self.connection.writer.send(held.line)

    def _take_held(self, may_leave: Callable[[_Held], bool]) -> list[_Held]:
        """Remove the lines that may leave, and return them in order."""
        taken = [held for held in self._held if may_leave(held)]
        if taken:
            self._held = [held for held in self._held if not may_leave(held)]
            self._held_bytes -= sum(len(held.line) for held in taken)
        return taken
