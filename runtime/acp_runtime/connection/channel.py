"""The `Channel` that proxies send through: checks, sends, and waits for results."""

from __future__ import annotations

import asyncio
from asyncio import get_running_loop
from typing import TYPE_CHECKING, Any, TypeVar, cast

from acp_runtime.connection.call import Call, copy_of
from acp_runtime.connection.guards import Initialization
from acp_runtime.connection.handler import session_of
from acp_runtime.errors import ConnectionClosed
from acp_runtime.jsonrpc.encoding import notification_line, request_line
from acp_runtime.jsonrpc.results import dump_params
from acp_runtime.options import InstrumentedMessage
from acp_runtime.stubs.methods import AnyMethod, Notification, Request
from acp_runtime.stubs.roles import Handler, ProcessInfo

if TYPE_CHECKING:
    from acp_runtime.connection.connection import Connection

P = TypeVar("P")
R = TypeVar("R")


class Channel:
    """Sends calls and notifications, and returns the results of calls.

    Args:
        connection: the connection.

    Attributes:
        loop: the event loop of the connection.
        initialization: has what the peer advertised.
        process: the subprocess at the other end, if there is one.
        closed: why no call can be sent any more; None while it can.
        sends_nothing: whether notifications are refused as well.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._writer = connection.writer
        self._guards = connection.guards
        self.closed: ConnectionClosed | None = None
        self.sends_nothing: bool = False
        self._draining: asyncio.Task[None] | None = None
        self.loop: asyncio.AbstractEventLoop = connection.loop
        self.initialization: Initialization = connection.initialization
        self.process: ProcessInfo | None = connection.process

    async def request(self, method: Request[P, R], params: P) -> R:
        """Send a request and wait for its result.

        Raises:
            GuardError: if the protocol forbids it now; nothing was sent.
            RemoteError: if the response is an error.
            InvalidResponse: if the response is malformed.
            ConnectionClosed: if there will be no response.
            ProtocolVersionMismatch: if the peer answered with another version of the protocol.
            RuntimeError: if the connection belongs to another event loop; nothing was sent.
            TypeError: if the params of an extension method have another type; nothing was sent.
        """
        if get_running_loop() is not self.loop or self.closed is not None:
            self._check_open()
        if method.side == "extension":
            params = dump_params(method, params)
        self._guards.check_call(method, params)
        connection = self._connection
        if method.opens and connection.handler is not None:
            connection.initialization.advertise(connection.handler, params)
        if connection.calls.abandoned and method.wire in connection.calls.turns:
            await connection.calls.wait_for_cancelled_turns(method, params)
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
            TypeError: if the params of an extension method have another type; nothing was sent.
        """
        if self.closed is not None or get_running_loop() is not self.loop or self._writer.broken:
            self._check_notifications()
        if method.side == "extension":
            params = dump_params(method, params)
        self._guards.check_call(method, params)
        self._send_notification(method.wire, method, params)
        if self._writer.is_full:
            await self._drain()

    async def ext_request(self, method: str, params: Any) -> Any:
        """Send a request that the schema doesn't know. Its result is plain JSON."""
        self._check_open()
        return await self._call(method, None, params)

    async def ext_notification(self, method: str, params: Any) -> None:
        """Send a notification that the schema doesn't know."""
        self._check_notifications()
        self._send_notification(method, None, params)
        if self._writer.is_full:
            await self._drain()

    async def wait_closed(self) -> ConnectionClosed:
        """Wait until the connection has ended. Return the reason."""
        self._check_loop()
        return await asyncio.shield(self._connection.closed)

    def supports(self, method: AnyMethod) -> bool:
        """Whether the peer has advertised what a method needs."""
        return self._guards.supports(method)

    @property
    def handler(self) -> Handler:
        """The handler of this side's methods.

        Raises:
            RuntimeError: until the factory has returned it.
        """
        if self._connection.handler is None:
            raise RuntimeError("The factory has not returned the handler yet. Keep the proxy and read `handler` later.")
        handler: Handler = self._connection.handler
        return handler

    def _check_loop(self) -> None:
        if get_running_loop() is not self.loop:
            raise RuntimeError(
                "This connection belongs to another event loop. To call it from another thread, use "
                "`acp_kit.threads.from_thread`, or `asyncio.run_coroutine_threadsafe` with its loop."
            )

    def _check_open(self) -> None:
        self._check_loop()
        if self.closed is not None:
            raise copy_of(self.closed)

    def _check_notifications(self) -> None:
        self._check_loop()
        is_over = self.closed is not None and not self._connection.initialization.done
        if is_over or self._writer.broken or self.sends_nothing:
            raise copy_of(self.closed or ConnectionClosed("The peer no longer reads."))

    def _send_notification(self, wire: str, method: Notification[Any] | None, params: Any) -> None:
        line, sessions = notification_line(wire, params), self._connection.sessions
        if sessions.creating_requests:
            session = session_of(self._connection.profile, params)
            if session is not None and sessions.holds(session):
                sessions.hold(session, line)
                return
        self._writer.send(line)
        if wire in self._connection.calls.turn_cancellations:
            self._connection.calls.note_cancelled_turn(wire, session_of(self._connection.profile, params))

    async def _drain(self) -> None:
        limits = self._connection.limits
        waiting = limits.begin_wait_for_peer()
        try:
            await self._writer.drain()
        finally:
            limits.end_wait_for_peer(waiting)
        if self._writer.broken:
            # The notification may not have been written.
            self._check_notifications()

    async def _call(self, wire: str, method: Request[Any, Any] | None, params: Any) -> Any:
        connection, calls = self._connection, self._connection.calls
        self._writer.send(request_line(calls.next_id, wire, params), flush=not calls.pending)
        caller = connection.limits.begin_wait_for_peer()
        call = calls.add(wire, method, params, caller)
        try:
            if self._writer.is_full and (self._draining is None or self._draining.done()):
                # Not awaited, because the response may come first; it notices a broken pipe.
                self._draining = connection.create_task(self._writer.drain())
            return await call.future
        except asyncio.CancelledError:
            calls.abandon(call)
            raise
        finally:
            if caller is not None:
                connection.limits.end_wait_for_peer(caller)
            if call.creates_session:
                connection.sessions.end_creation_by_peer(self._created_session(call))

    def _created_session(self, call: Call) -> str | None:
        """Return the session that a call has created; None if it failed."""
        if not call.future.done() or call.future.cancelled() or call.future.exception() is not None:
            return None
        return str(getattr(call.future.result(), self._connection.profile.session_attribute))


class InstrumentedChannel(Channel):
    """A channel that sends each message inside of the context manager of `Options.instrument`."""

    async def _call(self, wire: str, method: Request[Any, Any] | None, params: Any) -> Any:
        with self._inside(wire, method, self._connection.calls.next_id, params) as sent:
            return await super()._call(wire, method, sent)

    def _send_notification(self, wire: str, method: Notification[Any] | None, params: Any) -> None:
        with self._inside(wire, method, None, params) as sent:
            super()._send_notification(wire, method, sent)

    def _inside(self, wire: str, method: AnyMethod | None, id: int | None, params: Any) -> Any:
        message = InstrumentedMessage("out", wire, method, id, session_of(self._connection.profile, params), params)
        return cast("Any", self._connection.options).instrument(message)
