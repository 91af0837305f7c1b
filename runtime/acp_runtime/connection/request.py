"""The peer's requests: each has a handler in a task of its own, and exactly one answer (rules 8, 13 and 20 to 22).

The answer is made at the end of the handler's task. A task that is cancelled before its first step never gets there;
its done-callback answers instead.

The peer can cancel a request by its id and by a notification for its turn. Clients do both, in either order, so its
handler is cancelled only once: a second cancellation would interrupt its clean-up. The end of the connection cancels it
as well. If this side cancels a turn (`turns.py`), the peer's requests in it are answered without their handlers.

A prompt of version 2 is accepted when its message is in the conversation. Its handler tells the peer so with a
notification (`Request.accepted`). From then on, the prompt is never answered with an error.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from logging import ERROR, getLogger
from typing import Any, Literal

from acp_runtime.connection.batch import Answers
from acp_runtime.connection.ids import Groups
from acp_runtime.connection.in_flight import InFlight, InFlightNotification, Tasks, current, log_failure
from acp_runtime.connection.session import Sessions
from acp_runtime.connection.state import ProtocolState
from acp_runtime.errors import GuardError, InternalError, RemoteError, RequestCancelled, RequestError
from acp_runtime.jsonrpc.encoding import dump, result_line
from acp_runtime.jsonrpc.error_responses import safe_error_line, sole_error, wire_error
from acp_runtime.jsonrpc.messages import RequestId
from acp_runtime.jsonrpc.results import as_result, build_result
from acp_runtime.logs import ThrottledLogger
from acp_runtime.models.json_values import wire_name
from acp_runtime.stubs import methods
from acp_runtime.stubs.methods import AnyMethod, session_of

Method = methods.Request[Any, Any]

# Stands for the result of a handler that has failed.
_FAILED = object()

_logger = getLogger(__name__)


@dataclass(slots=True, eq=False, repr=False)
class InFlightRequest(InFlight):
    """A request whose task was created.

    Attributes:
        id: as it was received.
        method: None if the schema doesn't have it.
        session: the id of the session that it belongs to, if any.
        on_end: called when it was answered.
        answers: sends its answer: the writer, or the batch that it came with.
        task: runs its handler; None after that has ended.
        has_begun: whether its handler has begun.
        is_answered: whether it was answered. If its turn was cancelled by this side, its handler may still run.
        turn_cancelled: whether the peer has cancelled its turn, so that its answer is the result for that (rule 21);
            or has cancelled it by its id, if the answer is the same then (rule 20).
        accepted: the JSON of the result that answers it instead of an error, after its handler has accepted it.
        cancelled_by: who has cancelled it: the peer, the end of the connection.
    """

    id: RequestId
    method: Method | None
    session: str | None
    on_end: Callable[[], None] | None
    answers: Answers
    task: asyncio.Task[None] | None = field(default=None, init=False)
    has_begun: bool = field(default=False, init=False)
    is_answered: bool = field(default=False, init=False)
    turn_cancelled: bool = field(default=False, init=False)
    accepted: bytes = field(default=b"", init=False)
    cancelled_by: tuple[str, ...] = field(default=(), init=False)

    def cancel(self, by: Literal["peer", "end"]) -> None:
        """Cancel the handler: once because the peer wants it, once because the connection ends."""
        if by not in self.cancelled_by and self.task is not None:
            self.cancelled_by += (by,)
            self.task.cancel()


def cancelled_line(id: RequestId, method: Method | None) -> bytes:
    """Return the line that answers a cancelled request: a result if the method has one for that, else an error."""
    if method is None or method.cancelled is None or not method.cancelled.result:
        return safe_error_line(id, RequestCancelled())
    return result_line(id, build_result(method, method.cancelled.result.encode()))


@dataclass(eq=False, repr=False)
class Requests:
    """The peer's requests that one side handles.

    Attributes:
        state: this side, with its handler and the version of the protocol.
        disclose: whether answers have the details of errors.
        tasks: for the tasks that handle the requests.
        sessions: are told which sessions the requests use, create and end.
        by_id: the requests whose handlers have not ended. Two may have the same id; `1` and `"1"` are different ids.
        cancellations: the notifications of the peer that cancel requests.
    """

    state: ProtocolState
    disclose: bool
    tasks: Tasks
    sessions: Sessions
    by_id: Groups[InFlightRequest] = field(default_factory=Groups[InFlightRequest], init=False)

    def __post_init__(self) -> None:
        side = self.state.side
        by_id = [method.wire for method in side.notifications.values() if method.cancels is not None]
        turns = [method.cancelled.by for method in side.requests.values() if method.cancelled is not None]
        self.cancellations: frozenset[str] = frozenset((*by_id, *turns))
        self._turn_cancellations = [side.notifications[wire] for wire in {*turns} if wire in side.notifications]
        # The requests that a notification for their session cancels, by its method and the session, until it has come;
        # and those that it has only marked.
        self._turns: Groups[InFlightRequest] = Groups()
        self._marked_turns: Groups[InFlightRequest] = Groups()
        self._log = ThrottledLogger(_logger)

    def start(self, request: InFlightRequest) -> None:
        """Start the handler of a request."""
        method, session = request.method, request.session
        if session is not None:
            self.sessions.use_by_peer(session)
        if method is not None and method.creates_session:
            self.sessions.creating_requests.add(request)
        if method is not None and method.ends_session and session is not None:
            self._cancel_ended(method, session)
        self.by_id.put(request.id, request)
        if session is not None and method is not None and method.cancelled is not None:
            self._turns.put((method.cancelled.by, session), request)
        request.limits.add(request.size)
        request.task = self.tasks.create(self._run(request), partial(self._ended, request))

    @property
    def running(self) -> list[asyncio.Task[None]]:
        """The tasks of the handlers."""
        return [request.task for request in self.by_id.all() if request.task is not None]

    # Cancellation.

    def cancel_on_arrival(self, method: methods.Notification[Any], params: Any) -> None:
        """Cancel what an arriving notification cancels: one request by its id, or the turns of a session.

        If the handler of the notification is overridden, it decides about the turns, and they are only marked. Those
        that arrive later, before that handler runs, are not cancelled. A request that was accepted ends as its handler
        ends: what it began is cancelled by the session.
        """
        if method.cancels is not None:
            for request in tuple(self.by_id.get(getattr(params, method.cancels), ())):
                cancelled = None if request.method is None else request.method.cancelled
                request.turn_cancelled |= cancelled is not None and cancelled.by_id
                if not request.accepted:
                    request.cancel("peer")
            return
        is_overridden = self.state.side.overrides(self.state.handler, method)
        turn = method.wire, session_of(self.state.profile, params)
        for request in self._turns.pop(turn, ()):
            request.turn_cancelled = True
            if is_overridden and request.has_begun:
                self._marked_turns.put(turn, request)
            else:
                request.cancel("peer")

    def cancel_by_default(self, method: AnyMethod, params: Any) -> None:
        """Do what the base class does for a notification: cancel the turns that it cancels.

        Called by the handler of that notification, it cancels those that were in flight when the notification arrived.
        Called by any other handler, it cancels those that are in flight now.
        """
        message = current.get()
        has_arrived = isinstance(message, InFlightNotification) and message.wire == method.wire
        turn = method.wire, session_of(self.state.profile, params)
        unmarked = () if has_arrived else self._turns.pop(turn, ())
        for request in (*self._marked_turns.pop(turn, ()), *unmarked):
            request.turn_cancelled = True
            request.cancel("peer")

    def accept(self, session: str, message: Any) -> None:
        """Note that a session has this message. If it is of the request that is handled now, that was accepted."""
        request = current.get()
        if not isinstance(request, InFlightRequest) or request.done or request.limits is not self.sessions.limits:
            return
        accepted = None if request.method is None else request.method.accepted
        if accepted is not None and request.session == session and not request.accepted:
            request.accepted = dump({wire_name(accepted.id): getattr(message, accepted.id)})

    def _cancel_ended(self, method: Method, session: str) -> None:
        """Cancel the turns of a session that a request ends, unless the handler decides about them, or can't end it."""
        overrides = partial(self.state.side.overrides, self.state.handler)
        for notification in self._turn_cancellations:
            if overrides(method) and not overrides(notification):
                for request in self._turns.pop((notification.wire, session), ()):
                    request.turn_cancelled = True
                    request.cancel("peer")

    def answer_cancelled_turn(self, wire: str, session: str) -> None:
        """Answer the peer's requests that belong to a turn which this side cancels with a notification."""
        for request in self._turns.pop((wire, session), ()):
            request.is_answered = True
            request.answers.answer(cancelled_line(request.id, request.method))
            request.cancel("peer")

    def cancel_all(self) -> None:
        """Cancel all requests, because the connection ends."""
        for request in self.by_id.all():
            request.turn_cancelled = request.method is not None and request.method.cancelled is not None
            request.cancel("end")

    # The handler's task.

    async def _run(self, request: InFlightRequest) -> None:
        current.set(request)
        request.has_begun = True
        try:
            result = await request.handle(request.argument)
            line = self._result_line(request, result)
            if len(line) > self.state.longest_line:
                self.state.refuse_line(request.wire, line)
        except GeneratorExit:
            raise  # the handler was abandoned, and its task is thrown away
        # SystemExit and pytest's Failed, too: asyncio would stop the loop or leave the request unanswered.
        except BaseException as error:
            line = self._error_line(request, error)
            self._finish(request, line)
            if isinstance(error, KeyboardInterrupt):
                raise
        else:
            task = request.task
            self._finish(request, line, result)
            if task is not None:
                self.tasks.forget(task)

    def _ended(self, request: InFlightRequest, task: asyncio.Task[None]) -> None:
        """Answer a request whose task ended before it could answer: it had not begun, or was abandoned."""
        if request.task is not None:
            error = None if task.cancelled() or request.cancelled_by else task.exception()
            self._finish(request, self._error_line(request, error or asyncio.CancelledError()))

    def _finish(self, request: InFlightRequest, line: bytes, result: Any = _FAILED) -> None:
        """Answer a request whose handler has ended."""
        method = request.method
        # The task's context holds the request: only the garbage collector could free them together.
        request.task = None
        self.by_id.remove(request.id, request)
        if method is not None and method.cancelled is not None:
            turn = method.cancelled.by, request.session
            self._turns.remove(turn, request)
            if request.turn_cancelled:
                self._marked_turns.remove(turn, request)
        request.end()
        if request.is_answered:
            result = _FAILED
        else:
            request.is_answered = True
            request.answers.answer(line, flush=not self.by_id)
        if method is not None and method.creates_session:
            session = session_of(self.state.profile, result)
            request.answers.when_sent(lambda: self.sessions.end_request(request, session))
        if method is not None and method.ends_session and request.session is not None and result is not _FAILED:
            self.sessions.forget(request.session)
        if request.on_end is not None:
            request.on_end()

    # The answer.

    def _result_line(self, request: InFlightRequest, result: Any) -> bytes:
        """Return the line for a result.

        Raises:
            TypeError: if it has the wrong type.
            GuardError: if the protocol forbids it.
            PydanticSerializationError: if it is not JSON.
        """
        method = request.method
        if method is None:
            return result_line(request.id, result)
        result = as_result(method, result)
        own = result  # all that the handler advertises
        if method.result_facts:
            result = self.state.check_result(method, request.argument, result)
        if method.creates_session:
            getattr(result, self.state.profile.session_attribute)  # raises here if there is none, to be answered
        if not method.opens:
            return result_line(request.id, result)
        result = self.state.with_own_version(result)
        line = result_line(request.id, result)  # before it is recorded, as it may not be JSON
        self.state.record_peer(request.argument)
        self.state.record_own(own)
        return line

    def _error_line(self, request: InFlightRequest, error: BaseException) -> bytes:
        """Return the line for an exception, and log it unless it is the handler's own `RequestError` and is sent.

        A group of one error is answered like that error, and logged as a group.
        """
        sole = sole_error(error)
        is_own = isinstance(sole, RequestError) and not isinstance(sole, (RemoteError, RequestCancelled))
        is_sent = is_own and not (request.is_answered or request.turn_cancelled or request.accepted)
        if not is_sent and not _is_end(sole):
            log_failure(self._log, request.wire, error)
        if request.accepted and request.method is not None:
            return result_line(request.id, build_result(request.method, request.accepted))
        if request.turn_cancelled:
            return cancelled_line(request.id, request.method)
        message = "The handler of %s raised an error that can't be sent: %s"
        failed = partial(self._log.log, ERROR, "unsendable", message, request.wire, error=error)
        line = safe_error_line(request.id, wire_error(sole, disclose=self.disclose), failed)
        try:
            if len(line) > self.state.longest_line:
                self.state.refuse_line(request.wire, line)
        except GuardError as oversized:
            failed(oversized)
            return safe_error_line(request.id, InternalError())
        return line


def _is_end(error: BaseException) -> bool:
    """Whether the handler was cancelled, or ended by Ctrl-C. A call of it that the peer cancelled doesn't count."""
    if isinstance(error, RemoteError):
        return False
    return isinstance(error, (asyncio.CancelledError, RequestCancelled, KeyboardInterrupt))
