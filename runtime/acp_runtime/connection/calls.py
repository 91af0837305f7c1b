"""What this side sends: notifications, and calls, which the peer answers (rules 7 to 9, 16 to 19, and 29).

`call.py` says what a call is from its sending to its response, and `turns.py` which calls are turns.
"""

from __future__ import annotations

import asyncio
from asyncio import get_running_loop, iscoroutine
from collections.abc import Awaitable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from logging import WARNING, getLogger
from typing import Any, TypeVar

from acp_runtime.connection.call import Call
from acp_runtime.connection.in_flight import InFlightNotification, begin_wait_for_peer, current, wait_for_peer
from acp_runtime.connection.lifecycle import Lifecycle
from acp_runtime.connection.limits import Limits
from acp_runtime.connection.request import InFlightRequest, Requests
from acp_runtime.connection.session import Outcome, Sessions
from acp_runtime.connection.state import ProtocolState
from acp_runtime.connection.turns import Turns
from acp_runtime.connection.writer import Writer
from acp_runtime.errors import ConnectionClosed, InternalError, InvalidResponse, ProtocolVersionMismatch, RemoteError
from acp_runtime.jsonrpc.encoding import notification_line, request_line
from acp_runtime.jsonrpc.messages import IncomingResponse
from acp_runtime.jsonrpc.results import build_result, dump_params, parse_error, parse_result, plain_result
from acp_runtime.logs import ThrottledLogger
from acp_runtime.models.json_values import as_object, wire_name
from acp_runtime.options import InstrumentedMessage, Options
from acp_runtime.stubs.methods import AnyMethod, Notification, Request, session_of
from acp_runtime.stubs.roles import PendingCall, ProcessInfo

P = TypeVar("P")
R = TypeVar("R")

# The number of abandoned calls whose ids are remembered, to recognise their late responses.
_MAX_ABANDONED = 10_000

_logger = getLogger(__name__)


@dataclass(eq=False, repr=False)
class Calls:
    """Sends the calls and notifications of this side, and resolves the calls: the `Channel` of a proxy.

    Attributes:
        state: this side with its handler, what was agreed, and which messages are allowed.
        options: how long a turn waits for the response to a cancelled one; `instrument` sees each message.
        process: the subprocess at the other end, if there is one.
        lifecycle: is stopped if the peer's version is not supported.
        limits: are told which handlers wait for the peer.
        writer: writes the lines.
        sessions: deliver the results behind the notifications, and hold notifications to new sessions.
        requests: the peer's requests; some end with a turn that this side cancels.
        loop: the event loop of the connection.
        end: why no call can be sent any more; None while it can.
        sends_nothing: whether notifications are refused as well, because the handlers have ended.
        pending: the calls without a response, by id, oldest first.
        abandoned: cancelled calls without a response, by id.
        turns: the calls that run a turn at the peer.
    """

    state: ProtocolState
    options: Options
    process: ProcessInfo | None
    lifecycle: Lifecycle
    limits: Limits
    writer: Writer
    sessions: Sessions
    requests: Requests
    loop: asyncio.AbstractEventLoop = field(default_factory=get_running_loop, init=False)
    end: ConnectionClosed | None = field(default=None, init=False)
    sends_nothing: bool = field(default=False, init=False)
    pending: dict[int, Call] = field(default_factory=dict[int, Call], init=False)
    abandoned: dict[int, Call] = field(default_factory=dict[int, Call], init=False)
    turns: Turns = field(init=False)

    def __post_init__(self) -> None:
        self._log = ThrottledLogger(_logger)
        self._next_id = 0
        self.turns = Turns(self.state.side, self.requests)
        proxy: Any = self.state.side.remote  # a subclass of `Remote`, with the tables of the peer's methods
        notifications: dict[str, Notification[Any]] = proxy.notifications
        by_id = {method.wire: method.cancels for method in notifications.values()}
        self._cancels_by_id = [(wire, wire_name(field)) for wire, field in by_id.items() if field is not None]

    # What a proxy calls.

    def request(self, method: Request[P, R], params: P) -> Awaitable[R]:
        """Check a request. Return a coroutine that sends it and waits for its result (saves one frame per call).

        Raises:
            GuardError: if the protocol forbids it now; nothing was sent.
            RemoteError: if the response is an error.
            InvalidResponse: if the response is malformed.
            ConnectionClosed: if the connection ends before the response.
            ProtocolVersionMismatch: if the peer answered with another version of the protocol.
            RuntimeError: if the connection belongs to another event loop; nothing was sent.
            TypeError: if the params of an extension method have another type; nothing was sent.
        """
        if get_running_loop() is not self.loop or self.end is not None:
            self._check_open()
        if method.side == "extension":
            params = dump_params(method, params)
        self.state.check_outgoing(method, params)
        if method.opens:
            self.state.record_own(params)
        if self.abandoned and method.wire in self.turns.cancelled_by:
            return self._call_after_cancelled_turns(method, params)
        return self._call(method.wire, method, params)

    async def notify(self, method: Notification[P], params: P) -> None:
        """Send a notification. Waits while the peer doesn't read.

        Raises:
            GuardError: if the protocol forbids it now; nothing was sent.
            ConnectionClosed: if it can't be sent.
            PydanticSerializationError: if the params are not JSON of their type; nothing was sent.
            RuntimeError: if the connection belongs to another event loop; nothing was sent.
            TypeError: if the params of an extension method have another type; nothing was sent.
        """
        if self.end is not None or get_running_loop() is not self.loop or self.writer.broken:
            self._check_notifications()
        if method.side == "extension":
            params = dump_params(method, params)
        self.state.check_outgoing(method, params)
        self._send_notification(method.wire, method, params)
        if self.writer.is_full():
            await self._drain()

    async def ext_request(self, method: str, params: Any) -> Any:
        """Send a request that the schema doesn't know. Its result is plain JSON."""
        self._check_open()
        self.state.check_extension(method)
        return await self._call(method, None, params)

    async def ext_notification(self, method: str, params: Any) -> None:
        """Send a notification that the schema doesn't know."""
        self._check_notifications()
        self.state.check_extension(method)
        self._send_notification(method, None, params)
        if self.writer.is_full():
            await self._drain()

    async def wait_closed(self) -> ConnectionClosed:
        """Wait until the connection has ended. Return the reason."""
        self._check_loop()
        return await asyncio.shield(self.lifecycle.closed)

    def supports(self, method: AnyMethod) -> bool:
        """Return whether the peer has advertised what a method needs."""
        return self.state.supports(method)

    def find_call(self, id: Any) -> PendingCall | None:
        """Return the pending call with an id."""
        call = self.pending.get(id)
        if call is None:
            return None
        message = call.calling_message
        request = message if isinstance(message, InFlightRequest) and not message.done else None
        return PendingCall(call.wire, call.params, request)

    def start_task(self, coroutine: Coroutine[Any, Any, object]) -> asyncio.Task[None]:
        """Start a task of the connection.

        Raises:
            ConnectionClosed: if the handlers have ended.
            RuntimeError: if the connection belongs to another event loop.
            TypeError: if it is not a coroutine.
        """
        if not iscoroutine(coroutine):
            raise TypeError(f"`start_task` takes a coroutine, such as `work()`, not {coroutine!r}.")
        try:
            self._check_loop()
            if self.sends_nothing:
                raise _copy_of(self.end or ConnectionClosed("The connection has ended."))
        except (RuntimeError, ConnectionClosed):
            coroutine.close()
            raise
        return self.requests.tasks.start(coroutine, self._log)

    async def wait_handled(self, session: str) -> None:
        """Wait until the notifications of a session that were received by now have been handled.

        In the handler of a notification, it doesn't wait, as calls don't (rule 16).

        Raises:
            ConnectionClosed: if they were discarded.
            RuntimeError: if the connection belongs to another event loop.
        """
        self._check_loop()
        message = current.get()
        if not isinstance(message, InFlightNotification) or message.done:
            await self.sessions.wait_handled(session)

    def has_cancelled_turn(self, session: str) -> bool:
        """Return whether this side has cancelled the newest turn of a session."""
        return session in self.turns.cancelled_sessions

    @property
    def handler(self) -> Any:
        """The handler of this side's methods.

        Raises:
            RuntimeError: until the factory has returned it.
        """
        if self.state.handler is None:
            raise RuntimeError("The factory has not returned the handler yet. Keep the proxy and read `handler` later.")
        return self.state.handler

    def _check_loop(self) -> None:
        if get_running_loop() is not self.loop:
            advice = "From another thread, use `acp_kit.threads.from_thread` or `asyncio.run_coroutine_threadsafe`."
            raise RuntimeError(f"This connection belongs to another event loop. {advice}")

    def _check_open(self) -> None:
        self._check_loop()
        if self.end is not None:
            raise _copy_of(self.end)

    def _check_notifications(self) -> None:
        self._check_loop()
        is_over = self.end is not None and not self.state.is_open
        if is_over or self.writer.broken or self.sends_nothing:
            raise _copy_of(self.end or ConnectionClosed("The peer no longer reads."))

    # Notifications.

    def _send_notification(self, wire: str, method: Notification[Any] | None, params: Any) -> None:
        line = notification_line(wire, params)
        if len(line) > self.state.longest_line:
            self.state.refuse_line(wire, line)
        affects_requests = wire in self.turns.notifications and self.turns.affects_requests(wire, params)
        if not affects_requests and not self.sessions.creating_requests:
            self.writer.send(line)
            return
        session = session_of(self.state.profile, params)
        self.sessions.send(session, line)
        if affects_requests and session is not None:
            self.turns.record_sent(wire, session, params)

    async def _drain(self) -> None:
        await wait_for_peer(self.limits, self.writer.drain())
        if self.writer.broken:
            # The notification may not have been written.
            self._check_notifications()

    # Calls.

    async def _call(self, wire: str, method: Request[Any, Any] | None, params: Any) -> Any:
        """Send a request, and wait for its result."""
        line = request_line(self._next_id, wire, params)
        if len(line) > self.state.longest_line:
            self.state.refuse_line(wire, line)
        self.writer.send(line, flush=not self.pending)
        call = self._add(wire, method, params)
        try:
            self.writer.drain_soon()  # not awaited, because the response may come first
            result = await call.future
        except GeneratorExit:  # the coroutine was closed, maybe in another thread or after the event loop
            with suppress(RuntimeError):
                self.loop.call_soon_threadsafe(self._cancelled, call)
            raise
        except asyncio.CancelledError:
            self._cancelled(call)
            raise
        except BaseException:
            self._returned(call)
            raise
        self._returned(call)
        return result

    async def _call_after_cancelled_turns(self, method: Request[Any, Any], params: Any) -> Any:
        """Send a new turn of a session after the responses to the cancelled ones before it (rule 19)."""
        turns = self.turns.get(session_of(self.state.profile, params), ())
        late = {call.forgotten: call for call in turns if call.forgotten is not None}
        if late:
            responses = asyncio.wait(late, timeout=self.options.late_answer_deadline)
            _, missing = await wait_for_peer(self.limits, responses)
            if missing:
                text = "Sending %s before the cancelled one was answered (Options.late_answer_deadline)"
                self._log.log(WARNING, "late", text, method.wire)
            for forgotten in missing:
                self.turns.remove(late[forgotten].session, late[forgotten])
        self._check_open()
        return await self._call(method.wire, method, params)

    def _add(self, wire: str, method: Request[Any, Any] | None, params: Any) -> Call:
        """Add a call that was sent with the next id."""
        session = session_of(self.state.profile, params)
        call = Call(
            id=self._next_id,
            wire=wire,
            method=method,
            params=params,
            session=session,
            calling_message=current.get(),
            waiting_message=begin_wait_for_peer(self.limits),
            future=self.loop.create_future(),
        )
        self.pending[call.id] = call
        self._next_id += 1
        if session is not None:
            self.sessions.use(session)
            if wire in self.turns.cancelled_by:
                self.turns.put(session, call)
                self.turns.cancelled_sessions.discard(session)
        if method is not None and method.creates_session:
            self.sessions.begin_call()
        return call

    def _cancelled(self, call: Call) -> None:
        """Note that the caller of a call has stopped waiting."""
        self._abandon(call)
        self._returned(call)

    def _returned(self, call: Call) -> None:
        """Note that a call has returned to its caller."""
        if call.waiting_message is not None:
            call.waiting_message.end_wait()
            call.waiting_message = None
        call.calling_message = None
        if call.method is not None and call.method.creates_session:
            future = call.future
            has_failed = not future.done() or future.cancelled() or future.exception() is not None
            self.sessions.end_call(None if has_failed else session_of(self.state.profile, future.result()))

    # Responses.

    def received(self, message: IncomingResponse) -> None:
        """Parse a response and pass it to its caller."""
        call = self._pop(message.id)
        if call is None:
            if message.id is None and message.is_error:
                code = (as_object(message.error) or {}).get("code")
                self._log.log(
                    WARNING, "answer", "The peer could not read something that this side wrote: error %s", code
                )
            elif not self._forget_abandoned(message.id):
                self._log.log(WARNING, "answer", "Ignored a response with an unknown id: %s", message.id)
            return
        try:
            self._deliver(call, self._result(call, message))
        except (RemoteError, InvalidResponse) as error:
            self._deliver(call, None, error)
        except ProtocolVersionMismatch as error:
            call.resolve(None, error)
            self.give_up(f"{error}.")

    def give_up(self, reason: str) -> None:
        """End the connection from this side, and fail the pending calls at once."""
        self.close(ConnectionClosed(reason))
        self.lifecycle.stop(reason)

    def find_echoed(self, id: Any, line: bytes) -> Call | None:
        """Return the pending call whose request is this line with this id, so that the peer has sent it back."""
        call = self.pending.get(id) if type(id) is int else None
        is_echoed = call is not None and line.strip() == request_line(call.id, call.wire, call.params).strip()
        return call if is_echoed else None

    def fail_unreadable(self, id: int, about: str) -> None:
        """Fail a call whose response can't be read (rule 3)."""
        call = self._pop(id)
        if call is None:
            self._forget_abandoned(id)
        else:
            self._deliver(call, None, InvalidResponse(call.wire, about))

    def _pop(self, id: Any) -> Call | None:
        call = self.pending.pop(id, None)
        if call is not None and self.turns:
            self.turns.remove(call.session, call)
        return call

    def _deliver(self, call: Call, result: Any, error: BaseException | None = None) -> None:
        """Resolve a call when the notifications before its response have been handled (rule 16).

        A call from the handler of a notification is resolved at once, since that handler waits for it: also that of
        another connection, which a handler of this one may wait for.
        """
        queue = None if call.session is None else self.sessions.queues.get(call.session)
        if queue is None or call.is_in_notification_handler:
            call.resolve(result, error)
        else:
            queue.deliver(Outcome(call.resolve, result, error))

    def _result(self, call: Call, message: IncomingResponse) -> Any:
        if message.fault:
            raise InvalidResponse(call.wire, message.fault)
        method = call.method
        if message.is_error:
            error = parse_error(call.wire, message)
            if self.process is not None and error.code == InternalError.default_code:
                error.hint = "The agent's stderr may say why."
            if method is None or method.gone is None or method.gone != error.code:
                raise error
            result = build_result(method, b"{}")
        elif method is None:
            return plain_result(message)
        else:
            if method.opens:
                self.state.check_version(plain_result(message))
            result = parse_result(method, message)
        if method.opens or method.creates is not None or method.ends is not None or method.result_facts:
            self.state.record_result(method, call.params, result)
            if method.ends_session and call.session is not None:
                self.sessions.forget(call.session)
        return result

    # Cancellation of calls.

    def _abandon(self, call: Call) -> None:
        """Cancel a call whose caller has stopped waiting."""
        if self.pending.pop(call.id, None) is None:
            return  # its response is here
        self._cancel(call)
        call.params = None  # it may be large, and nothing needs it any more
        call.forgotten = self.loop.create_future()
        self.abandoned[call.id] = call
        if len(self.abandoned) > _MAX_ABANDONED:
            self._forget_abandoned(next(iter(self.abandoned)))

    def _forget_abandoned(self, id: Any) -> bool:
        """Forget an abandoned call: its late response is here, or there are too many. Return whether it was one."""
        call = self.abandoned.pop(id, None)
        if call is None or call.forgotten is None:
            return False
        call.forgotten.cancel()  # done, for turns that wait for it
        self.turns.remove(call.session, call)
        return True

    def _cancel(self, call: Call) -> None:
        """Tell the peer that a call is cancelled: first with the notification for its turn, which more agents know."""
        wire = self.turns.cancelled_by.get(call.wire)
        if wire is not None and call.session is not None:
            self.writer.send(notification_line(wire, {self.state.profile.session: call.session}))
            self.turns.cancel(wire, call.session)
        for wire, name in self._cancels_by_id:
            self.writer.send(notification_line(wire, {name: call.id}))

    # The end of the connection.

    def cancel_all(self) -> None:
        """Cancel all calls whose methods have a result for a cancelled call, because this side ends the connection."""
        for call in self.pending.values():
            if call.method is not None and call.method.cancelled is not None:
                self._cancel(call)

    def close(self, reason: ConnectionClosed, *, when_handled: bool = False) -> None:
        """Fail the pending calls, all future ones and those that wait for late responses: the connection ends.

        Args:
            reason: why it ends.
            when_handled: let the calls of a session wait until the notifications received before were handled
                (rule 22), and those without a session until `close` is called again.
        """
        self.end = reason
        for id in tuple(self.abandoned):
            self._forget_abandoned(id)
        for call in tuple(self.pending.values()):
            if not when_handled or call.is_in_notification_handler:
                self._pop(call.id)
                call.resolve(None, _copy_of(reason))
            elif call.session is not None:
                self._pop(call.id)
                self._deliver(call, None, _copy_of(reason))


class InstrumentedCalls(Calls):
    """Sends each message inside of the context manager of `Options.instrument`."""

    async def _call(self, wire: str, method: Request[Any, Any] | None, params: Any) -> Any:
        with self._inside(wire, method, self._next_id, params) as sent:
            return await super()._call(wire, method, sent)

    def _send_notification(self, wire: str, method: Notification[Any] | None, params: Any) -> None:
        with self._inside(wire, method, None, params) as sent:
            super()._send_notification(wire, method, sent)

    def _inside(self, wire: str, method: AnyMethod | None, id: int | None, params: Any) -> Any:
        message = InstrumentedMessage("out", wire, method, id, session_of(self.state.profile, params), params)
        return self.options.instrument(message)  # type: ignore[misc]


def _copy_of(reason: ConnectionClosed) -> ConnectionClosed:
    """Return a copy for one caller, since raising it adds to its traceback."""
    return type(reason)(*reason.args)
