"""From incoming messages to a handler and back: one answer for each request, whatever the handler does.

The answer is made at the end of the handler's own task. A task that never gets there, because it was cancelled before
its first step, is answered in its done-callback (rule 13). Owns the requests that run or wait, and how they are
cancelled (rules 20 and 21).
"""

from __future__ import annotations

import asyncio
import os
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from logging import WARNING, getLogger
from typing import Any

from acp_runtime.connection.backpressure import Backpressure
from acp_runtime.connection.guards import Guards, opens
from acp_runtime.connection.held_notifications import HeldNotifications
from acp_runtime.connection.in_flight import Handle, InFlightNotification, InFlightRequest, current, session_of
from acp_runtime.connection.initialization import Initialization
from acp_runtime.connection.session_queues import SessionQueues, Spawn
from acp_runtime.connection.writer import Writer
from acp_runtime.encoding import result_line
from acp_runtime.errors import ConnectionClosed, RemoteError, RequestCancelled, RequestError
from acp_runtime.failures import error_answer, summary, wire_error
from acp_runtime.forks import leave_if_forked
from acp_runtime.json_values import as_object
from acp_runtime.logs import Throttle
from acp_runtime.messages import (
    IncomingNotification,
    IncomingRequest,
    InvalidNotification,
    Message,
    Refused,
    RequestId,
)
from acp_runtime.methods import AnyMethod, Notification, Request
from acp_runtime.options import Options
from acp_runtime.results import build_result, is_result, is_void
from acp_runtime.roles import Handler
from acp_runtime.sides import Side
from acp_runtime.tolerant import parse

_logger = getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Route:
    """What is known of a notification's method before one comes.

    Attributes:
        handle: the handler.
        on_arrival: what is done before it is its turn.
    """

    method: Notification[Any]
    handle: Handle
    on_arrival: Callable[[Any], None] | None


@dataclass(slots=True, eq=False)
class _Waiting:
    """A request that waits, unstarted, as the line it came in."""

    id: RequestId
    method: Request[Any, Any] | None
    session: str | None
    line: bytes


class Incoming:
    """Hands incoming messages to the handler of one side.

    Args:
        side: what is handled.
        handler: by whom.
        initialization: how the connection begins.
        guards: say what may be handled.
        backpressure: says what may start, and is told of it.
        queues: of notifications.
        held: notifications of this side that leave after an answer.
        writer: where answers go.
        spawn: creates a task that the connection owns, and tells of its end.
        decode: understands a line.
        options: of the connection.
        cancels_turn: whether this side has cancelled the turn that a request of a session belongs to.
    """

    def __init__(
        self,
        side: Side[Any],
        handler: Handler,
        initialization: Initialization,
        guards: Guards,
        backpressure: Backpressure,
        queues: SessionQueues,
        held: HeldNotifications,
        writer: Writer,
        spawn: Spawn,
        decode: Callable[[bytes], Message],
        options: Options,
        cancels_turn: Callable[[Request[Any, Any], str | None], bool],
    ) -> None:
        self._cancels_turn = cancels_turn
        self._decode = decode
        self._made_in = os.getpid()
        self._side = side
        self._profile = side.profile
        self._handler = handler
        self._initialization = initialization
        self._guards = guards
        self._backpressure = backpressure
        self._queues = queues
        self._held = held
        self._writer = writer
        self._spawn = spawn
        self._disclose = options.disclose_errors
        self._running: dict[RequestId, list[InFlightRequest]] = {}
        self._by_session: dict[str, list[InFlightRequest]] = {}
        self._waiting: deque[_Waiting] = deque()
        self._opening = 0
        self._early: deque[tuple[RequestId, bytes]] = deque()
        self._routes = {wire: self._route(method) for wire, method in side.notifications.items()}
        self._log = Throttle(_logger)
        self._loop = asyncio.get_running_loop()
        backpressure.on_blocked = self._start_waiting_soon

    def request(self, message: IncomingRequest, line: bytes) -> None:
        """Start the handler of a request, or put it off."""
        method = self._side.requests.get(message.method)
        if method is not None:
            if self._opening and self._is_early(method):
                self._put_off_until_open(message.id, line)
                return
            refused = self._guards.refuse(method, message.params)
            if refused is None and method.opens:
                refused = self._initialization.refuse(message.params)
            if refused is not None:
                self._writer.answer(error_answer(message.id, refused))
                return
        session = session_of(self._profile, message.params)
        if method is not None and method.cancelled is not None and self._cancels_turn(method, session):
            self._writer.answer(self._cancelled_answer(message.id, method))
        elif self._waiting or not self._backpressure.may_start(len(line)):
            self._backpressure.put_off(len(line))
            self._waiting.append(_Waiting(message.id, method, session, line))
        else:
            self._start(message, method, session, len(line))

    def notification(self, message: IncomingNotification, line: bytes) -> None:
        """Put a notification behind those of its session."""
        route = self._routes.get(message.method)
        if route is None:
            handle: Handle = partial(self._handler.ext_notification, message.method)
        elif self._opening and self._is_early(route.method):
            self._put_off_until_open(None, line)
            return
        elif self._guards.refuse(route.method, message.params) is not None:
            self._log.log(WARNING, "refused", "Ignored %s: it came before initialize", message.method)
            return
        else:
            handle = route.handle
            if route.on_arrival is not None:
                route.on_arrival(message.params)
        self._enqueue(message.method, message.params, handle, line)

    def invalid_notification(self, message: InvalidNotification, line: bytes) -> None:
        """Log a notification with invalid params, and hand it to the handler in the order of its session."""
        if self._opening and self._is_early(self._side.notifications.get(message.method)):
            self._put_off_until_open(None, line)
            return
        faults = summary(message.error.data, "params")
        self._log.log(WARNING, message.method, "The peer sent an invalid %s: %s", message.method, faults)
        handle = partial(self._handler.invalid_notification, message.method, error=message.error)
        self._enqueue(message.method, message.params, handle, line)

    def invalid_request(self, message: Refused, line: bytes) -> None:
        """Answer a request with invalid params.

        One that opens the connection in another version of the protocol is handled. Of others, coming too early is said
        first (rule 25).
        """
        frame = as_object(parse(line).value) or {}
        method = self._side.requests.get(str(frame.get("method")))
        error: RequestError | None = None
        if method is not None and method.opens:
            read = self._initialization.read_another_version(method, message.id, frame.get("params"))
            if isinstance(read, IncomingRequest):
                self.request(read, line)
                return
            error = read
        elif self._opening and self._is_early(method):
            self._put_off_until_open(message.id, line)
            return
        elif method is not None:
            error = self._guards.refuse_early(method)
        self._writer.answer(error_answer(message.id, error or message.error))

    def answer_cancelled(self, wire: str, session: str) -> None:
        """This side sends a notification that cancels requests of a session: answer those that run here (rule 21)."""
        self._drop_waiting(lambda each: _is_cancelled_by(each.method, wire) and each.session == session, turn=True)
        for message in self._of_session(wire, session):
            if not message.answered and message.method is not None and message.method.cancelled is not None:
                message.answered = True
                self._writer.answer(self._cancelled_answer(message.id, message.method))
                _cancel(message)

    @property
    def tasks(self) -> list[asyncio.Task[None]]:
        """Those that run the handlers of requests."""
        return [message.task for message in self._all_running() if message.task is not None]

    @property
    def waiting(self) -> int:
        """How many messages wait, unstarted, for others to end."""
        return len(self._waiting) + len(self._early)

    def cancel_all(self) -> None:
        """The connection ends: answer what waits, and cancel what runs, once: a second time would end its clean-up."""
        self._drop_waiting(lambda _: True, turn=True)
        for id, line in self._early:
            self._backpressure.take_up(len(line))
            if id is not None:
                self._writer.answer(error_answer(id, RequestCancelled()))
        self._early.clear()
        for message in self._all_running():
            message.turn_cancelled = message.method is not None and message.method.cancelled is not None
            if not message.closing:
                message.closing = True
                _cancel(message)

    def _route(self, method: Notification[Any]) -> _Route:
        on_arrival: Callable[[Any], None] | None = None
        if method.cancels is not None:
            on_arrival = self._cancel_request(method.cancels)
        elif any(request.cancelled and request.cancelled[0] == method.wire for request in self._side.requests.values()):
            on_arrival = partial(self._cancel_turn, method.wire, self._side.overrides(self._handler, method))
        return _Route(method, getattr(self._handler, method.name), on_arrival)

    def _is_early(self, method: AnyMethod | None) -> bool:
        """Whether a message has to wait for the answer to the request that opens the connection (rule 25)."""
        if self._initialization.done or method is None:
            return False
        return not opens(method) and method.side != "protocol"

    def _put_off_until_open(self, id: RequestId, line: bytes) -> None:
        self._backpressure.put_off(len(line))
        self._early.append((id, line))

    def _start(
        self, message: IncomingRequest, method: Request[Any, Any] | None, session: str | None, size: int
    ) -> None:
        handle: Handle
        if method is None:
            handle = partial(self._handler.ext_request, message.method)
        else:
            handle = getattr(self._handler, method.name)
            self._opening += method.opens
        if session is not None:
            for line in self._held.seen(session):
                self._writer.send(line)
        running = InFlightRequest(self._default, message.id, message.method, method, session)
        if running.creates_session:
            self._held.begin(running)
        self._running.setdefault(message.id, []).append(running)
        if session is not None:
            self._by_session.setdefault(session, []).append(running)
        self._backpressure.start_request(running, size)
        running.task = self._spawn(self._handle(running, handle, message.params), partial(self._ended, running))

    def _enqueue(self, wire: str, params: Any, handle: Handle, line: bytes) -> None:
        session = session_of(self._profile, params)
        if self._backpressure.is_crowded:
            # Reading can't always pause: what comes in a flood is kept as it came, which takes a tenth of the memory.
            handle, params = partial(self._handle_line, handle), line
        self._queues.put(session, InFlightNotification(self._default, wire, params, handle), len(line))

    async def _handle_line(self, handle: Handle, line: bytes) -> None:
        message: Any = self._decode(line)
        await handle(message.params)

    async def _handle(self, running: InFlightRequest, handle: Handle, params: Any) -> None:
        current.set(running)
        running.started = True
        try:
            result = await handle(params)
            line = self._result(running, params, result)
        except GeneratorExit:
            raise  # the handler was abandoned, and its task is thrown away
        # SystemExit and pytest's Failed, too: asyncio would stop the loop or leave the request unanswered.
        except BaseException as error:
            leave_if_forked(self._made_in, error)
            self._finish(running, self._error(running, error), None)
            if isinstance(error, KeyboardInterrupt):
                raise
        else:
            self._finish(running, line, self._new_session(running, result))

    def _ended(self, running: InFlightRequest, task: asyncio.Task[None]) -> None:
        if not running.done:
            error = asyncio.CancelledError() if task.cancelled() else task.exception()
            self._finish(running, self._error(running, error or asyncio.CancelledError()), None)

    def _finish(self, running: InFlightRequest, line: bytes, session: str | None) -> None:
        # The task's context holds the message: together they would wait for Python's garbage collector.
        running.task = None
        same_id = self._running[running.id]
        same_id.remove(running)
        if not same_id:
            del self._running[running.id]
        if running.session is not None:
            same_session = self._by_session[running.session]
            same_session.remove(running)
            if not same_session:
                del self._by_session[running.session]
        self._backpressure.end_request(running)
        if not running.answered:
            self._writer.answer(line, flush=not self._running)
        method = running.method
        if method is not None:
            if running.creates_session:
                for held in self._held.end(running, session):
                    self._writer.send(held)
            if method.opens:
                self._opening -= 1
                self._go_on_after_opening()
        if self._waiting:
            self._start_waiting()

    def _new_session(self, running: InFlightRequest, result: Any) -> str | None:
        """The session that a result names. Takes note of one that has ended."""
        method = running.method
        if method is not None and method.ends == self._profile.session_attribute and running.session is not None:
            self._held.forget(running.session)
        if not running.creates_session or running.answered:
            return None
        return str(getattr(result, self._profile.session_attribute))

    def _go_on_after_opening(self) -> None:
        """Take what came while `initialize` was being answered; what the guards refuse then came too early."""
        if self._opening and not self._initialization.done:
            return
        early, self._early = self._early, deque()
        for _, line in early:
            self._backpressure.take_up(len(line))
            self._receive_again(line)

    def _start_waiting_soon(self) -> None:
        self._loop.call_soon(self._start_waiting)

    def _start_waiting(self) -> None:
        while self._waiting and self._backpressure.may_start(len(self._waiting[0].line)):
            waiting = self._waiting.popleft()
            self._backpressure.take_up(len(waiting.line))
            message = self._decode(waiting.line)
            assert isinstance(message, IncomingRequest), "A line means the same when it is read again."
            self._start(message, waiting.method, waiting.session, len(waiting.line))

    def _receive_again(self, line: bytes) -> None:
        message = self._decode(line)
        if isinstance(message, IncomingRequest):
            self.request(message, line)
        elif isinstance(message, IncomingNotification):
            self.notification(message, line)
        elif isinstance(message, InvalidNotification):
            self.invalid_notification(message, line)
        elif isinstance(message, Refused):
            self.invalid_request(message, line)

    def _result(self, running: InFlightRequest, params: Any, result: Any) -> bytes:
        """The answer to a request whose handler returned something."""
        method = running.method
        if method is not None:
            if result is None and is_void(method):
                result = build_result(method, b"{}")
            if not is_result(method, result):
                raise TypeError(f"The handler of {method.wire} returned {type(result).__name__}, not {method.result}.")
            if method.opens:
                return self._initialize_result(running.id, params, result)
        return result_line(running.id, result)

    def _initialize_result(self, id: RequestId, params: Any, result: Any) -> bytes:
        """The answer that opens the connection. It does if it can be sent."""
        result = self._initialization.answer(result)
        line = result_line(id, result)
        self._initialization.answer_sent(self._handler, params, result)
        self._guards.initialized()
        return line

    def _error(self, running: InFlightRequest, error: BaseException) -> bytes:
        """The answer to a request whose handler raised something."""
        is_own = isinstance(error, RequestError) and not isinstance(error, (RemoteError, RequestCancelled))
        if isinstance(error, ConnectionClosed):
            self._log.log(WARNING, "closed", "The handler of %s was ended: %s", running.wire, error.reason)
        elif not is_own and not _is_cancellation(error) and not running.answered:
            self._log.failed(running.wire, error)
        if running.turn_cancelled and running.method is not None and not is_own:
            return self._cancelled_answer(running.id, running.method)
        return error_answer(running.id, wire_error(error, disclose=self._disclose))

    def _default(self, method: AnyMethod, params: Any) -> None:
        """What the base class of handlers does with a notification: one that cancels turns cancels them."""
        session = session_of(self._profile, params)
        for message in self._of_session(method.wire, session):
            if message.turn_cancelled and not message.turn_stopped:
                message.turn_stopped = True
                _cancel(message)

    def _cancel_turn(self, wire: str, overridden: bool, params: Any) -> None:
        """Only what is in flight when the notification arrives is meant by it, not what comes before it is handled."""
        session = session_of(self._profile, params)
        self._drop_waiting(lambda each: _is_cancelled_by(each.method, wire) and each.session == session, turn=True)
        for message in self._of_session(wire, session):
            message.turn_cancelled = True
            if not overridden or not message.started:
                message.turn_stopped = True
                self._cancel_running(message)

    def _cancel_request(self, field: str) -> Callable[[Any], None]:
        def cancel(params: Any) -> None:
            id = getattr(params, field)
            self._drop_waiting(lambda each: _is_same(each.id, id), turn=False)
            self._drop_early(id)
            for message in list(self._running.get(id, ())):
                # Clients send both for one turn. The second cancellation would end how the handler cleans up.
                if not (message.turn_stopped and message.cancel_awaited):
                    self._cancel_running(message)
                message.cancel_awaited = False

        return cancel

    def _cancel_running(self, message: InFlightRequest) -> None:
        """A handler that has not begun never does: its answer is ready."""
        if not message.started and not message.answered and message.task is not None:
            message.answered = True
            self._writer.answer(self._error(message, asyncio.CancelledError()))
        _cancel(message)

    def _drop_waiting(self, is_meant: Callable[[_Waiting], bool], *, turn: bool) -> None:
        """Answer requests that were cancelled before they could start; `turn`: by what cancels turns."""
        dropped = [each for each in self._waiting if is_meant(each)]
        for waiting in dropped:
            self._waiting.remove(waiting)
            self._backpressure.take_up(len(waiting.line))
            if turn and waiting.method is not None and waiting.method.cancelled is not None:
                self._writer.answer(self._cancelled_answer(waiting.id, waiting.method))
            else:
                self._writer.answer(error_answer(waiting.id, RequestCancelled()))

    def _drop_early(self, id: RequestId) -> None:
        for early in [each for each in self._early if id is not None and _is_same(each[0], id)]:
            self._early.remove(early)
            self._backpressure.take_up(len(early[1]))
            self._writer.answer(error_answer(id, RequestCancelled()))

    def _cancelled_answer(self, id: RequestId, method: Request[Any, Any]) -> bytes:
        assert method.cancelled is not None
        return result_line(id, build_result(method, method.cancelled[1].encode()))

    def _of_session(self, wire: str, session: str | None) -> list[InFlightRequest]:
        """The running requests of a session that a notification cancels."""
        if session is None:
            return []
        return [message for message in self._by_session.get(session, ()) if _is_cancelled_by(message.method, wire)]

    def _all_running(self) -> Iterator[InFlightRequest]:
        return (message for same_id in tuple(self._running.values()) for message in tuple(same_id))


def _is_cancellation(error: BaseException) -> bool:
    """Whether a handler was cancelled, not a call of its own by the peer."""
    if isinstance(error, RemoteError):
        return False
    return isinstance(error, (asyncio.CancelledError, RequestCancelled))


def _cancel(message: InFlightRequest) -> None:
    if message.task is not None:
        message.task.cancel()


def _is_cancelled_by(method: Request[Any, Any] | None, wire: str) -> bool:
    return method is not None and method.cancelled is not None and method.cancelled[0] == wire


def _is_same(id: RequestId, other: RequestId) -> bool:
    """`1` and `"1"` are different ids."""
    return type(id) is type(other) and id == other
