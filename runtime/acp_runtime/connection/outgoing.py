"""Outgoing calls and notifications: the `Channel` that proxies send through."""

from __future__ import annotations

import asyncio
from asyncio import get_running_loop
from typing import TYPE_CHECKING, Any, TypeVar

from acp_runtime.connection.backpressure import Backpressure
from acp_runtime.connection.calls import Call, Outcome
from acp_runtime.connection.cancelled_calls import CancelledCalls
from acp_runtime.connection.guards import Guards
from acp_runtime.connection.held_notifications import HeldNotifications
from acp_runtime.connection.in_flight import InFlightMessage, session_of
from acp_runtime.connection.initialization import Initialization
from acp_runtime.connection.late_responses import LateResponses
from acp_runtime.connection.pending_calls import PendingCalls
from acp_runtime.connection.responses import Responses
from acp_runtime.connection.session_queues import SessionQueues
from acp_runtime.connection.writer import Writer
from acp_runtime.errors import ConnectionClosed
from acp_runtime.jsonrpc.encoding import notification_line, request_line
from acp_runtime.stubs.methods import AnyMethod, Notification, Profile, Request
from acp_runtime.stubs.roles import Handler, ProcessInfo

if TYPE_CHECKING:
    from acp_runtime.stubs.extensions import Extension, ExtNotification, ExtRequest

P = TypeVar("P")
R = TypeVar("R")


class Outgoing:
    """Sends calls and notifications, and returns the results of calls.

    Args:
        profile: the version of the protocol.
        initialization: the state of `initialize`.
        guards: decide what may be sent.
        backpressure: counts handlers that wait for the peer.
        queues: keep notifications of sessions that calls create.
        held: notifications that may not be sent yet.
        writer: sends lines.
        pending: the calls without a response.
        late: the cancelled calls without a response.
        cancelled: cancels calls.
        responses: resolves calls, here with errors.
        process: the subprocess at the other end, if there is one.

    Attributes:
        handler: handles this side's methods; set when the factory has made it.
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
        late: LateResponses,
        cancelled: CancelledCalls,
        responses: Responses,
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
        self._late = late
        self._cancelled = cancelled
        self._responses = responses
        self._process = process
        self._handler: Handler | None = None
        self._closed: ConnectionClosed | None = None
        self._notifications_stopped = False
        self.loop: asyncio.AbstractEventLoop = get_running_loop()
        self.closed: asyncio.Future[ConnectionClosed] = self.loop.create_future()

    async def request(self, method: Request[P, R], params: P) -> R:
        """Send a request and wait for its result.

        Raises:
            GuardError: if the protocol forbids it now; nothing was sent.
            RemoteError: if the response is an error.
            InvalidResponse: if the response is malformed.
            ConnectionClosed: if there will be no response.
            ProtocolVersionMismatch: if the peer answered with another version of the protocol.
            RuntimeError: if the connection belongs to another event loop; nothing was sent.
        """
        if get_running_loop() is not self.loop or self._closed is not None:
            self._check_open()
        self._guards.check_call(method, params)
        if method.opens and self._handler is not None:
            self._initialization.advertise(self._handler, params)
        if self._late.expected:
            await self._cancelled.wait_for_late_responses(method, params)
            self._check_open()
        result: R = await self._call(method.wire, method, params)
        return result

    async def notify(self, method: Notification[P], params: P) -> None:
        """Send a notification. Waits while the peer doesn't read.

        Raises:
            GuardError: if the protocol forbids it now; nothing was sent.
            ConnectionClosed: if it can't be sent.
            PydanticSerializationError: if the params are not JSON of their type; nothing was sent.
            RuntimeError: if the connection belongs to another event loop; nothing was sent.
        """
        if self._closed is not None or get_running_loop() is not self.loop or self._writer.broken:
            self._check_notifications()
        self._guards.check_call(method, params)
        self._send_notification(method.wire, params)
        if method.wire in self._cancelled.notifications:
            self._cancelled.turn_cancelled(method.wire, session_of(self._profile, params))
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

    async def call_extension(self, extension: ExtRequest[P, R], params: P) -> R:
        """Send a request for an extension method, and wait for its result. Raises what `request` raises.

        Raises:
            TypeError: if the params have another type; nothing was sent.
            ValidationError: if they are invalid; nothing was sent.
        """
        method, json = self._extension(extension, params)
        result: R = await self.request(method, json)
        return result

    async def notify_extension(self, extension: ExtNotification[P], params: P) -> None:
        """Send a notification of an extension method. Raises what `notify` raises.

        Raises:
            TypeError: if the params have another type; nothing was sent.
            ValidationError: if they are invalid; nothing was sent.
        """
        method, json = self._extension(extension, params)
        await self.notify(method, json)

    def _extension(self, extension: Extension, params: Any) -> tuple[Any, Any]:
        """Return the method of an extension and the params as plain JSON."""
        from acp_runtime.jsonrpc.extensions import dump_params  # not loaded by programs without extensions
        from acp_runtime.stubs.extensions import method_of

        method = method_of(extension, self._profile)
        return method, dump_params(method, params)

    async def wait_closed(self) -> ConnectionClosed:
        """Wait until the connection has ended. Return the reason."""
        self._check_loop()
        return await asyncio.shield(self.closed)

    def supports(self, method: AnyMethod) -> bool:
        """Whether the peer has advertised what a method needs."""
        return self._guards.supports(method)

    @property
    def handler(self) -> Handler:
        """The handler of this side's methods.

        Raises:
            RuntimeError: until the factory has returned it.
        """
        if self._handler is None:
            raise RuntimeError("The factory has not returned the handler yet. Keep the proxy and read `handler` later.")
        return self._handler

    @handler.setter
    def handler(self, handler: Handler) -> None:
        self._handler = handler

    @property
    def peer_capabilities(self) -> Any:
        """The peer's capabilities; None before `initialize` was answered."""
        return self._initialization.peer_capabilities

    @property
    def peer_info(self) -> Any:
        """The peer's name and version; None before `initialize` was answered, or if it sent none."""
        return self._initialization.peer_info

    @property
    def process(self) -> ProcessInfo | None:
        """The subprocess at the other end; None if there is none."""
        return self._process

    def peer_closed(self, reason: ConnectionClosed) -> None:
        """Fail the pending calls when the notifications that were received have been handled (rule 22)."""
        self._closed = reason
        self._late.close()
        for call in self._pending:
            if call.is_inside_a_notification:
                self._fail(call, reason)
            elif call.session is not None:
                self._pending.pop(call.id)
                self._responses.deliver(Outcome(call, error=_copy(reason)))

    def cancel_and_close(self, reason: ConnectionClosed) -> None:
        """Cancel the turns that run at the peer, and fail all calls: this side ends the connection."""
        self._cancelled.cancel_turns()
        self.close(reason)

    def close(self, reason: ConnectionClosed) -> None:
        """Fail all calls, pending and future. Notifications may still be sent."""
        self._closed = reason
        self._late.close()
        for call in self._pending:
            self._fail(call, reason)

    def stop_notifications(self) -> None:
        """Refuse notifications as well."""
        self._notifications_stopped = True

    def _check_loop(self) -> None:
        if get_running_loop() is not self.loop:
            raise RuntimeError(
                "This connection belongs to another event loop. To call it from another thread, use "
                "`acp_kit.threads.from_thread`, or `asyncio.run_coroutine_threadsafe` with its loop."
            )

    def _check_open(self) -> None:
        self._check_loop()
        if self._closed is not None:
            raise _copy(self._closed)

    def _check_notifications(self) -> None:
        self._check_loop()
        is_over = self._closed is not None and not self._initialization.done
        if is_over or self._writer.broken or self._notifications_stopped:
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
        waiting = self._backpressure.begin_wait()
        try:
            await self._writer.drain()
        finally:
            self._backpressure.end_wait(waiting)
        if self._writer.broken:
            # The notification may not have been written.
            self._check_notifications()

    async def _drain_for(self, call: Call) -> None:
        """Wait until the writer is no longer full or the call has been answered."""
        # Marks an error as retrieved: if the caller is cancelled here, no code awaits the future.
        call.future.add_done_callback(lambda future: future.cancelled() or future.exception())
        drain = self.loop.create_task(self._writer.drain())
        try:
            await asyncio.wait({drain, call.future}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            drain.cancel()

    async def _call(self, wire: str, method: Request[Any, Any] | None, params: Any) -> Any:
        self._writer.send(request_line(self._pending.next_id, wire, params), flush=not self._pending.by_id)
        caller = self._backpressure.begin_wait()
        call = self._new_call(wire, method, params, caller)
        try:
            if self._writer.is_full:
                await self._drain_for(call)
            return await call.future
        except asyncio.CancelledError:
            self._cancelled.abandon(call)
            raise
        finally:
            self._backpressure.end_wait(caller)
            if call.creates_session:
                self._queues.created(self._created_session(call))

    def _new_call(
        self, wire: str, method: Request[Any, Any] | None, params: Any, caller: InFlightMessage | None
    ) -> Call:
        """Register a request that was sent as a pending call."""
        session = session_of(self._profile, params)
        creates_session = method is not None and method.creates_session
        future = self.loop.create_future()
        call = Call(self._pending.next_id, wire, method, params, session, future, caller, creates_session)
        self._pending.add(call)
        if creates_session:
            self._queues.creating()
        if session is not None and session not in self._queues.sessions:
            self._queues.used(session)
        return call

    def _created_session(self, call: Call) -> str | None:
        """Return the session that a call has created; None if it failed."""
        if not call.future.done() or call.future.cancelled() or call.future.exception() is not None:
            return None
        return str(getattr(call.future.result(), self._profile.session_attribute))

    def _fail(self, call: Call, reason: ConnectionClosed) -> None:
        self._pending.pop(call.id)
        # A copy for each call, since raising it adds to its traceback.
        call.fail(_copy(reason))


def _copy(reason: ConnectionClosed) -> ConnectionClosed:
    return type(reason)(*reason.args)
