"""The peer's requests: each has a handler in a task of its own, and exactly one answer (rules 8, 13 and 20 to 22).

A request goes through these states:

    SCHEDULED   its task was created, its handler has not begun
    RUNNING     its handler has begun
    ANSWERED    it was answered without waiting for its handler, which was cancelled
    ENDED       its handler has ended, and it was answered

The answer is made at the end of the handler's task. A task that is cancelled before its first step never gets there;
its done-callback answers instead.

The peer can cancel a request by its id and by a notification for its turn. Clients do both, in either order, so its
handler is cancelled only once: a second cancellation would interrupt its clean-up. The end of the connection cancels it
as well. If this side cancels a turn (`call.py`), the peer's requests in it are answered without their handlers.
"""

from __future__ import annotations

import asyncio
from enum import IntEnum, auto
from functools import partial
from logging import ERROR, getLogger
from typing import TYPE_CHECKING, Any, Literal

from acp_runtime.connection.handler import Handle, Message, current, inside, leave_if_forked, log_failure, session_of
from acp_runtime.connection.session import Notification
from acp_runtime.errors import RemoteError, RequestCancelled, RequestError
from acp_runtime.jsonrpc.encoding import result_line
from acp_runtime.jsonrpc.error_responses import safe_error_line, wire_error
from acp_runtime.jsonrpc.messages import IncomingRequest, RequestId
from acp_runtime.jsonrpc.results import as_result, build_result
from acp_runtime.logs import ThrottledLogger
from acp_runtime.options import InstrumentedMessage
from acp_runtime.stubs import methods
from acp_runtime.stubs.methods import AnyMethod

if TYPE_CHECKING:
    from acp_runtime.connection.connection import Connection

Method = methods.Request[Any, Any]

_logger = getLogger(__name__)


class State(IntEnum):
    """See the top of the module. A request can skip states, but never goes back."""

    SCHEDULED = auto()
    RUNNING = auto()
    ANSWERED = auto()
    ENDED = auto()


# In place of the result of a handler that has none.
_FAILED = object()


class InFlightRequest(Message):
    """A request whose task was created.

    Attributes:
        id: as it was received.
        method: None if the schema doesn't have it.
        session: the id of the session that it belongs to, if any.
        state: where it is on its way.
        task: runs its handler; None after that has ended.
        turn_cancelled: whether the peer has cancelled its turn, so that its answer is the result for that (rule 21);
            or has cancelled it by its id, if the answer is the same then (rule 20).
        cancelled_by: who has cancelled it: the peer, the end of the connection.
    """

    __slots__ = ("cancelled_by", "id", "method", "session", "state", "task", "turn_cancelled")

    def __init__(
        self,
        connection: Connection,
        message: IncomingRequest,
        handle: Handle,
        method: Method | None,
        session: str | None,
        length: int,
    ) -> None:
        Message.__init__(self, connection, message.method, handle, message.params, length)
        self.id: RequestId = message.id
        self.method: Method | None = method
        self.session: str | None = session
        self.state: State = State.SCHEDULED
        self.task: asyncio.Task[None] | None = None
        self.turn_cancelled: bool = False
        self.cancelled_by: tuple[str, ...] = ()

    def enter(self, state: State) -> None:
        """Change the state."""
        assert state > self.state, f"{self.wire} goes from {self.state.name} to {state.name}."
        self.state = state

    def cancel(self, by: Literal["peer", "end"]) -> None:
        """Cancel the handler: once because the peer wants it, once because the connection ends."""
        if by not in self.cancelled_by and self.task is not None:
            self.cancelled_by += (by,)
            self.task.cancel()


def _is_cancelled_by(method: Method | None, wire: str) -> bool:
    """Whether a notification cancels the requests of a method in its session."""
    return method is not None and method.cancelled is not None and method.cancelled[0] == wire


def cancelled_line(id: RequestId, method: Method | None) -> bytes:
    """Return the line that answers a cancelled request: a result if the method has one for that, else an error."""
    if method is None or method.cancelled is None:
        return safe_error_line(id, RequestCancelled())
    return result_line(id, build_result(method, method.cancelled[1].encode()))


class Requests:
    """The peer's requests that one side handles.

    Args:
        connection: the connection.

    Attributes:
        by_id: the requests whose handlers have not ended. Two may have the same id; `1` and `"1"` are different ids.
        opening: how many of them open the connection.
        cancellations: the notifications of the peer that cancel requests.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._log = ThrottledLogger(_logger)
        self.by_id: dict[RequestId, dict[InFlightRequest, None]] = {}
        self.opening: int = 0
        by_id = [each.wire for each in connection.side.notifications.values() if each.cancels is not None]
        turns = [each.cancelled[0] for each in connection.side.requests.values() if each.cancelled is not None]
        self.cancellations: frozenset[str] = frozenset((*by_id, *turns))

    def start(self, message: IncomingRequest, method: Method | None, session: str | None, length: int) -> None:
        """Start the handler of a request of `length` bytes."""
        connection = self._connection
        if method is None:
            handle: Handle = partial(connection.handler.ext_request, message.method)
        else:
            handle = getattr(connection.handler, method.name)
            self.opening += method.opens
        if session is not None and session not in connection.sessions.known:
            connection.sessions.known_by_peer(session)
        if connection.options.instrument is not None:
            about = InstrumentedMessage("in", message.method, method, message.id, session, message.params)
            handle = partial(inside, connection.options.instrument, about, handle)
        request = InFlightRequest(connection, message, handle, method, session, length)
        if method is not None and method.creates_session:
            connection.sessions.creating_requests.add(request)
        self.by_id.setdefault(request.id, {})[request] = None
        connection.limits.add(request.size)
        request.task = connection.create_task(self._run(request), partial(self._ended, request))

    @property
    def tasks(self) -> list[asyncio.Task[None]]:
        """The tasks of the handlers."""
        return [request.task for request in self._all() if request.task is not None]

    # Cancellation.

    def cancel_on_arrival(self, method: methods.Notification[Any], params: Any) -> None:
        """Cancel what an arriving notification cancels: one request by its id, or the turns of a session.

        If the handler of the notification is overridden, it decides about the turns, and they are only marked. Those
        that arrive later, before that handler runs, are not cancelled.
        """
        connection = self._connection
        if method.cancels is not None:
            for request in tuple(self.by_id.get(getattr(params, method.cancels), ())):
                cancelled = None if request.method is None else request.method.cancelled
                request.turn_cancelled |= cancelled is not None and cancelled[2]
                request.cancel("peer")
            return
        is_overridden = connection.side.overrides(connection.handler, method)
        for request in self._of_turn(method.wire, session_of(connection.profile, params)):
            request.turn_cancelled = True
            if not is_overridden or request.state is State.SCHEDULED:
                request.cancel("peer")

    def cancel_by_default(self, method: AnyMethod, params: Any) -> None:
        """Do what the base class does for a notification: cancel the turns that it cancels.

        Called by the handler of that notification, it cancels those that were in flight when the notification arrived.
        Called by any other handler, it cancels those that are in flight now.
        """
        message = current.get()
        has_arrived = isinstance(message, Notification) and message.wire == method.wire
        for request in self._of_turn(method.wire, session_of(self._connection.profile, params)):
            request.turn_cancelled |= not has_arrived
            if request.turn_cancelled:
                request.cancel("peer")

    def answer_cancelled_turn(self, wire: str, session: str) -> None:
        """Answer the peer's requests that belong to a turn which this side cancels with a notification."""
        for request in self._of_turn(wire, session):
            if request.state is not State.ANSWERED:
                request.enter(State.ANSWERED)
                self._connection.answer(cancelled_line(request.id, request.method))
                request.cancel("peer")

    def cancel_all(self) -> None:
        """Cancel all requests, because the connection ends."""
        self._connection.dispatch.refuse_early()
        for request in self._all():
            request.turn_cancelled = request.method is not None and request.method.cancelled is not None
            request.cancel("end")

    def _of_turn(self, wire: str, session: str | None) -> list[InFlightRequest]:
        if session is None:
            return []
        return [each for each in self._all() if each.session == session and _is_cancelled_by(each.method, wire)]

    def _all(self) -> list[InFlightRequest]:
        return [request for same_id in self.by_id.values() for request in same_id]

    # The handler's task.

    async def _run(self, request: InFlightRequest) -> None:
        current.set(request)
        request.enter(State.RUNNING)
        try:
            result = await request.handle(request.argument)
            line = self._result_line(request, result)
        except GeneratorExit:
            raise  # the handler was abandoned, and its task is thrown away
        # SystemExit and pytest's Failed, too: asyncio would stop the loop or leave the request unanswered.
        except BaseException as error:
            leave_if_forked(self._connection.process_id, error)
            line = self._error_line(request, error)
            self._finish(request, line)
            if isinstance(error, KeyboardInterrupt):
                raise
        else:
            self._finish(request, line, result)

    def _ended(self, request: InFlightRequest, task: asyncio.Task[None]) -> None:
        """Answer a request whose task ended before it could answer."""
        if request.state is not State.ENDED:
            error = asyncio.CancelledError() if task.cancelled() else task.exception()
            self._finish(request, self._error_line(request, error or asyncio.CancelledError()))

    def _finish(self, request: InFlightRequest, line: bytes, result: Any = _FAILED) -> None:
        """Answer a request whose handler has ended."""
        connection, method, same_id = self._connection, request.method, self.by_id[request.id]
        # The task's context holds the request: only the garbage collector could free them together.
        request.task = None
        del same_id[request]
        if not same_id:
            del self.by_id[request.id]
        connection.limits.end(request)
        if request.state is State.ANSWERED:
            result = _FAILED
        else:
            connection.answer(line, flush=not self.by_id)
        request.enter(State.ENDED)
        if method is not None:
            self._note_effects(method, request, result)

    def _note_effects(self, method: Method, request: InFlightRequest, result: Any) -> None:
        """Note what a method has opened, created or ended, according to its table."""
        sessions, attribute = self._connection.sessions, self._connection.profile.session_attribute
        if method.creates_session:
            sessions.end_creation(request, None if result is _FAILED else str(getattr(result, attribute)))
        if method.ends == attribute and result is not _FAILED and request.session is not None:
            sessions.forget(request.session)
        if method.opens:
            self.opening -= 1
            self._connection.dispatch.handle_early()

    # The answer.

    def _result_line(self, request: InFlightRequest, result: Any) -> bytes:
        """Return the line for a result.

        Raises:
            TypeError: if it has the wrong type.
            PydanticSerializationError: if it is not JSON.
        """
        method = request.method
        if method is None:
            return result_line(request.id, result)
        result = as_result(method, result)
        if method.creates_session:
            str(getattr(result, self._connection.profile.session_attribute))  # if it has none, that is the answer
        if not method.opens:
            return result_line(request.id, result)
        connection = self._connection
        result = connection.initialization.own_result(result)
        line = result_line(request.id, result)  # before it is recorded, as it may not be JSON
        connection.initialization.record_peer(request.argument)
        connection.initialization.advertise(connection.handler, result)
        return line

    def _error_line(self, request: InFlightRequest, error: BaseException) -> bytes:
        """Return the line for an exception, and log it unless it is the handler's own `RequestError`."""
        is_own = isinstance(error, RequestError) and not isinstance(error, (RemoteError, RequestCancelled))
        if not is_own and not _is_end(error) and request.state is not State.ANSWERED:
            log_failure(self._log, request.wire, error)
        if request.turn_cancelled and not is_own:
            return cancelled_line(request.id, request.method)
        disclose = self._connection.options.disclose_errors
        failed = partial(self._unsendable, request.wire, error)
        return safe_error_line(request.id, wire_error(error, disclose=disclose), failed)

    def _unsendable(self, wire: str, error: BaseException, reason: Exception) -> None:
        """Log an error that can't be sent, such as one whose data is not JSON."""
        message = "The handler of %s raised an error that can't be sent: %s"
        self._log.log(ERROR, f"unsendable {wire}", message, wire, reason, error=error)


def _is_end(error: BaseException) -> bool:
    """Whether the handler was cancelled, or ended by Ctrl-C. A call of it that the peer cancelled doesn't count."""
    if isinstance(error, RemoteError):
        return False
    return isinstance(error, (asyncio.CancelledError, RequestCancelled, KeyboardInterrupt))
