"""What this side sends: calls and notifications, and the responses to its calls.

It is the `Channel` that proxies send through.
"""

from __future__ import annotations

import asyncio
from asyncio import get_running_loop
from collections.abc import Callable, Mapping
from logging import WARNING, getLogger
from typing import Any, TypeVar

from acp_runtime.connection.backpressure import Backpressure
from acp_runtime.connection.guards import Guards
from acp_runtime.connection.held_notifications import HeldNotifications
from acp_runtime.connection.in_flight import InFlightMessage, session_of
from acp_runtime.connection.initialization import Initialization
from acp_runtime.connection.late_answers import LateAnswers
from acp_runtime.connection.pending_calls import Call, Outcome, PendingCalls
from acp_runtime.connection.session_queues import SessionQueues
from acp_runtime.connection.writer import Writer
from acp_runtime.encoding import notification_line, request_line
from acp_runtime.errors import ConnectionClosed, InternalError, InvalidResponse, ProtocolVersionMismatch, RemoteError
from acp_runtime.json_values import as_object
from acp_runtime.logs import Throttle
from acp_runtime.messages import IncomingResponse
from acp_runtime.methods import AnyMethod, Notification, Profile, Request
from acp_runtime.model import wire_name
from acp_runtime.options import Options
from acp_runtime.results import build_result, parse_result, plain_result
from acp_runtime.roles import Handler, ProcessInfo

P = TypeVar("P")
R = TypeVar("R")

_logger = getLogger(__name__)


class Outgoing:
    """Sends calls and notifications, and gives callers their results.

    Args:
        profile: the version of the protocol.
        initialization: how the connection begins.
        guards: say what may be sent.
        backpressure: is told who waits for the peer.
        queues: of the notifications that come before the responses of their sessions.
        held: what may not be sent yet.
        writer: where lines go.
        pending: the calls that have no response yet.
        options: of the connection.
        called: told of each call after it was sent.
        cancels: told of each notification that this side sends to cancel the requests of a session.
        stop: ends the connection.
        process: the subprocess at the other end, if there is one.

    Attributes:
        handler: what handles this side's methods; set when the factory has made it.
        closed: done when everything has ended, with the reason.
    """

    def __init__(
        self,
        profile: Profile,
        initialization: Initialization,
        guards: Guards,
        backpressure: Backpressure,
        queues: SessionQueues,
        held: HeldNotifications,
        writer: Writer,
        pending: PendingCalls,
        options: Options,
        called: Callable[[], None],
        cancels: Callable[[str, str], None],
        stop: Callable[[ConnectionClosed], None],
        process: ProcessInfo | None,
    ) -> None:
        self._profile = profile
        self._initialization = initialization
        self._guards = guards
        self._backpressure = backpressure
        self._queues = queues
        self._held = held
        self._writer = writer
        self._pending = pending
        self._called = called
        self._cancels = cancels
        self._stop = stop
        self._process = process
        self._handler: Handler | None = None
        self._peer: Mapping[str, Notification[Any]] = {}
        self._cancelling: frozenset[str] = frozenset()
        self._closed: ConnectionClosed | None = None
        self._no_notifications = False
        self._loop = get_running_loop()
        self._late = LateAnswers(options.late_answer_deadline)
        self._log = Throttle(_logger)
        self.closed: asyncio.Future[ConnectionClosed] = self._loop.create_future()

    def knows(self, requests: Mapping[str, Request[Any, Any]], notifications: Mapping[str, Notification[Any]]) -> None:
        """What the peer handles."""
        self._peer = notifications
        self._cancelling = frozenset(
            method.cancelled[0] for method in requests.values() if method.cancelled is not None
        ).intersection(notifications)

    async def request(self, method: Request[P, R], params: P) -> R:
        """Send a request and wait for its result.

        Raises:
            GuardError: if the protocol forbids it now; nothing was sent.
            RemoteError: if the peer answered with an error.
            InvalidResponse: if the response is malformed.
            ConnectionClosed: if there will be no response.
            ProtocolVersionMismatch: if the peer wants another version.
            RuntimeError: if the connection belongs to another event loop; nothing was sent.
        """
        if get_running_loop() is not self._loop or self._closed is not None:
            self._check_open()
        self._guards.before_call(method, params)
        if method.opens and self._handler is not None:
            self._initialization.advertise(self._handler, params)
        if self._late.expected and self._is_turn(method):
            await self._until_late_answers(method, params)
        result: R = await self._call(method.wire, method, params)
        return result

    async def notify(self, method: Notification[P], params: P) -> None:
        """Send a notification; waits while the peer doesn't read.

        Raises:
            GuardError: if the protocol forbids it now; nothing was sent.
            ConnectionClosed: if it can't be sent.
            PydanticSerializationError: if the params are not what their type says; nothing was sent.
            RuntimeError: if the connection belongs to another event loop; nothing was sent.
        """
        if self._closed is not None or get_running_loop() is not self._loop or self._writer.broken:
            self._check_notifications()
        self._guards.before_call(method, params)
        self._send_notification(method.wire, params)
        if method.wire in self._cancelling:
            self._cancel_turns(method.wire, session_of(self._profile, params))
        if self._writer.is_full:
            await self._drain()

    async def ext_request(self, method: str, params: Any) -> Any:
        """Send a request that the schema doesn't know. Its result is plain JSON."""
        self._check_open()
        return await self._call(method, None, params)

    async def ext_notification(self, method: str, params: Any) -> None:
        """Send a notification that the schema doesn't know."""
        self._check_notifications()
        self._send_notification(method, params)
        if self._writer.is_full:
            await self._drain()

    async def wait_closed(self) -> ConnectionClosed:
        """Wait until the connection has ended. Gives the reason."""
        self._check_loop()
        return await asyncio.shield(self.closed)

    def supports(self, method: AnyMethod) -> bool:
        """Whether the peer has advertised what a method needs."""
        return self._guards.supports(method)

    @property
    def handler(self) -> Handler:
        """What handles this side's methods.

        Raises:
            RuntimeError: while the factory is still making it.
        """
        if self._handler is None:
            raise RuntimeError("The handler is still being made. Keep the proxy, and ask it later.")
        return self._handler

    @handler.setter
    def handler(self, handler: Handler) -> None:
        self._handler = handler

    @property
    def peer_capabilities(self) -> Any:
        """What the peer advertised; None before `initialize` was answered."""
        return self._initialization.peer_capabilities

    @property
    def peer_info(self) -> Any:
        """What the peer is called; None before `initialize` was answered, or if it did not say."""
        return self._initialization.peer_info

    @property
    def process(self) -> ProcessInfo | None:
        """The subprocess at the other end; None if there is none."""
        return self._process

    def answered(self, message: IncomingResponse) -> None:
        """Give a caller what the peer has answered."""
        call = self._pending.answered(message.id)
        if call is None:
            if self._pending.was_abandoned(message.id):
                self._late.arrived(message.id)
            else:
                self._log.log(WARNING, "answer", "Ignored a response to no call of this side, id %s", message.id)
            return
        try:
            self._deliver(Outcome(call, self._result(call, message)))
        except (RemoteError, InvalidResponse) as error:
            self._deliver(Outcome(call, error=error))
        except ProtocolVersionMismatch as error:
            call.fail(error)
            reason = ConnectionClosed(f"{error}.")
            self.close(reason)
            self._stop(reason)

    def cancels_turn(self, method: Request[Any, Any], session: str | None) -> bool:
        """Whether a request of the peer's belongs to a turn that this side has cancelled, and is cancelled with it."""
        if session is None or method.cancelled is None or method.cancelled[0] not in self._cancelling:
            return False
        return self._late.expects(session) or any(
            call.turn_cancelled and call.session == session for call in self._pending
        )

    def unreadable(self, id: int, about: str) -> None:
        """Fail a call whose response can't be read (rule 3)."""
        call = self._pending.answered(id)
        if call is not None:
            self._deliver(Outcome(call, error=InvalidResponse(call.wire, about)))
        elif self._pending.was_abandoned(id):
            self._late.arrived(id)

    def peer_left(self, reason: ConnectionClosed) -> None:
        """No response will come anymore. Callers are told when what was received before has been handled (rule 22)."""
        self._closed = reason
        self._late.close()
        for call in self._pending:
            if call.is_inside_a_notification:
                self._fail(call, reason)
            elif call.session is not None:
                self._pending.answered(call.id)
                self._deliver(Outcome(call, error=_copy(reason)))

    def leave(self, reason: ConnectionClosed) -> None:
        """This side ends the connection: cancel the turns that run at the peer, and fail all calls."""
        for call in self._pending:
            if call.method is not None and call.method.cancelled is not None:
                self._cancel_call(call)
        self.close(reason)

    def close(self, reason: ConnectionClosed) -> None:
        """No response will come anymore. Notifications may still be sent."""
        self._closed = reason
        self._late.close()
        for call in self._pending:
            self._fail(call, reason)

    def send_no_more(self) -> None:
        """Notifications can't be sent anymore, either."""
        self._no_notifications = True

    def _check_loop(self) -> None:
        if get_running_loop() is not self._loop:
            raise RuntimeError(
                "This connection belongs to another event loop. From another thread, use "
                "asyncio.run_coroutine_threadsafe(<call>, <its loop>)."
            )

    def _check_open(self) -> None:
        self._check_loop()
        if self._closed is not None:
            raise _copy(self._closed)

    def _check_notifications(self) -> None:
        self._check_loop()
        is_over = self._closed is not None and not self._initialization.done
        if is_over or self._writer.broken or self._no_notifications:
            raise _copy(self._closed or ConnectionClosed("The peer no longer reads."))

    def _send_notification(self, wire: str, params: Any) -> None:
        line = notification_line(wire, params)
        if self._held.creating:
            session = session_of(self._profile, params)
            if session is not None and self._held.holds(session):
                self._held.hold(session, line)
                return
        self._writer.send(line)

    async def _drain(self) -> None:
        waiting = self._backpressure.wait()
        try:
            await self._writer.drain()
        finally:
            self._backpressure.end_wait(waiting)

    async def _until_late_answers(self, method: Request[Any, Any], params: Any) -> None:
        session = session_of(self._profile, params)
        if session is None:
            return
        waiting = self._backpressure.wait()
        try:
            await self._late.wait(method.wire, session)
        finally:
            self._backpressure.end_wait(waiting)
        self._check_open()

    async def _call(self, wire: str, method: Request[Any, Any] | None, params: Any) -> Any:
        self._writer.send(request_line(self._pending.next_id, wire, params), flush=not self._pending.by_id)
        caller = self._backpressure.wait()
        call = self._new_call(wire, method, params, caller)
        try:
            if self._writer.is_full:
                await self._writer.drain()
            return await call.future
        except asyncio.CancelledError:
            self._abandon(call)
            raise
        finally:
            self._backpressure.end_wait(caller)
            if call.creates_session:
                self._queues.created(self._created_session(call))

    def _new_call(
        self, wire: str, method: Request[Any, Any] | None, params: Any, caller: InFlightMessage | None
    ) -> Call:
        """Be ready for the response to a request that was sent."""
        session = session_of(self._profile, params)
        creates_session = method is not None and method.creates == self._profile.session_attribute
        future = self._loop.create_future()
        call = Call(self._pending.next_id, wire, method, params, session, future, caller, creates_session)
        self._pending.add(call)
        if creates_session:
            self._queues.creating()
        if session is not None:
            self._queues.used(session)
        self._called()
        return call

    def _created_session(self, call: Call) -> str | None:
        """The session that a call has created; None if it failed."""
        if not call.future.done() or call.future.cancelled() or call.future.exception() is not None:
            return None
        return str(getattr(call.future.result(), self._profile.session_attribute))

    def _abandon(self, call: Call) -> None:
        """Nobody waits for a call anymore: tell the peer (rule 19)."""
        if self._pending.abandon(call):
            self._cancel_call(call)
            if self._is_turn(call.method) and call.session is not None:
                self._late.expect(call.id, call.session)

    def _is_turn(self, method: Request[Any, Any] | None) -> bool:
        """Whether a request of this side is cancelled by a notification of this side."""
        return method is not None and method.cancelled is not None and method.cancelled[0] in self._cancelling

    def _cancel_turns(self, wire: str, session: str | None) -> None:
        """This side has sent what cancels the turns of a session: what the peer asks in them is answered (rule 21)."""
        if session is None:
            return
        for call in self._pending:
            if call.session == session and self._is_turn(call.method):
                call.turn_cancelled = True
        self._cancels(wire, session)

    def _cancel_call(self, call: Call) -> None:
        method = call.method
        if method is not None and method.cancelled is not None and self._is_turn(method) and call.session is not None:
            wire = method.cancelled[0]
            self._writer.send(notification_line(wire, {self._profile.session: call.session}))
            self._cancel_turns(wire, call.session)
        for each in self._peer.values():
            if each.cancels is not None:
                self._writer.send(notification_line(each.wire, {wire_name(each.cancels): call.id}))

    def _result(self, call: Call, message: IncomingResponse) -> Any:
        if message.fault:
            raise InvalidResponse(call.wire, message.fault)
        method = call.method
        if message.failed:
            error = self._remote_error(call.wire, message.error)
            if method is None or method.gone is None or method.gone != error.code:
                raise error
            gone = build_result(method, b"{}")
            self._take_note(method, call, gone)
            return gone
        if method is None:
            return plain_result(message)
        if method.opens:
            self._initialization.check_version(plain_result(message))
        result = parse_result(method, message)
        self._take_note(method, call, result)
        return result

    def _take_note(self, method: Request[Any, Any], call: Call, result: Any) -> None:
        if method.opens:
            self._initialization.answered(result)
            self._guards.initialized()
        if method.creates is not None or method.ends is not None:
            self._guards.answered(method, call.params, result)
            if method.ends == self._profile.session_attribute and call.session is not None:
                self._queues.forget(call.session)

    def _remote_error(self, wire: str, error: Any) -> RemoteError:
        """The error in a response. Raises InvalidResponse if it is malformed."""
        body = as_object(error) or {}
        code, message = body.get("code"), body.get("message")
        if not isinstance(code, int) or isinstance(code, bool) or not isinstance(message, str):
            raise InvalidResponse(wire, "its error has no integer `code` and string `message`")
        remote = RemoteError.of(code, message, body.get("data"))
        if self._process is not None and code == InternalError.default_code:
            remote.hint = self._process.where_to_look
        return remote

    def _deliver(self, outcome: Outcome) -> None:
        """Resolve a caller after the notifications before its response, unless one of them made the call (rule 16)."""
        call = outcome.call
        if call.session is None or call.is_inside_a_notification:
            outcome.deliver()
        else:
            self._queues.when_handled(call.session, outcome)

    def _fail(self, call: Call, reason: ConnectionClosed) -> None:
        self._pending.answered(call.id)
        # One instance each: whoever raises it adds to its traceback.
        call.fail(_copy(reason))


def _copy(reason: ConnectionClosed) -> ConnectionClosed:
    return type(reason)(*reason.args)
