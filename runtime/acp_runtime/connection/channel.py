"""The `Channel` that proxies send through: checks, sends, and waits for results."""

from __future__ import annotations

import asyncio
from asyncio import get_running_loop
from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from acp_runtime.connection.both_sides import BothSides
from acp_runtime.connection.call import Calls, copy_of
from acp_runtime.connection.guards import Guards
from acp_runtime.connection.held import HeldLines
from acp_runtime.connection.in_flight import Tasks, wait_for_peer
from acp_runtime.connection.limits import Limits
from acp_runtime.connection.writer import Writer
from acp_runtime.errors import ConnectionClosed
from acp_runtime.jsonrpc.encoding import notification_line, request_line
from acp_runtime.jsonrpc.results import dump_params
from acp_runtime.options import InstrumentedMessage
from acp_runtime.stubs.methods import AnyMethod, Notification, Request, session_of
from acp_runtime.stubs.roles import ProcessInfo

P = TypeVar("P")
R = TypeVar("R")


@dataclass(eq=False, repr=False)
class Channel:
    """Sends calls and notifications, and returns the results of calls.

    Attributes:
        sides: this side with its handler, and what the peer has advertised.
        process: the subprocess at the other end, if there is one.
        ended: done when the connection has ended.
        tasks: for a task that drains the writer.
        limits: are told which handlers wait for the peer.
        writer: sends calls.
        guards: say what may be sent.
        held: sends notifications, some of them later.
        calls: the calls that are sent.
        instrument: `Options.instrument`.
        loop: the event loop of the connection.
        sends_nothing: whether notifications are refused as well.
    """

    sides: BothSides
    process: ProcessInfo | None
    ended: asyncio.Future[ConnectionClosed]
    tasks: Tasks
    limits: Limits
    writer: Writer
    guards: Guards
    held: HeldLines
    calls: Calls
    instrument: Any
    loop: asyncio.AbstractEventLoop = field(default_factory=get_running_loop, init=False)
    sends_nothing: bool = field(default=False, init=False)
    _draining: asyncio.Task[None] | None = field(default=None, init=False)

    def request(self, method: Request[P, R], params: P) -> Awaitable[R]:
        """Check a request. Return a coroutine that sends it and waits for its result: here, it needs one frame less.

        Raises:
            GuardError: if the protocol forbids it now; nothing was sent.
            RemoteError: if the response is an error.
            InvalidResponse: if the response is malformed.
            ConnectionClosed: if the connection ends before the response.
            ProtocolVersionMismatch: if the peer answered with another version of the protocol.
            RuntimeError: if the connection belongs to another event loop; nothing was sent.
            TypeError: if the params of an extension method have another type; nothing was sent.
        """
        calls = self.calls
        if get_running_loop() is not self.loop or calls.closed is not None:
            self._check_open()
        if method.side == "extension":
            params = dump_params(method, params)
        self.guards.check_call(method, params)
        if method.opens:
            self.sides.advertise(params)
        if calls.abandoned and method.wire in calls.turns:
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
        if self.calls.closed is not None or get_running_loop() is not self.loop or self.writer.broken:
            self._check_notifications()
        if method.side == "extension":
            params = dump_params(method, params)
        self.guards.check_call(method, params)
        self._send_notification(method.wire, method, params)
        if self.writer.is_full():
            await self._drain()

    async def ext_request(self, method: str, params: Any) -> Any:
        """Send a request that the schema doesn't know. Its result is plain JSON."""
        self._check_open()
        return await self._call(method, None, params)

    async def ext_notification(self, method: str, params: Any) -> None:
        """Send a notification that the schema doesn't know."""
        self._check_notifications()
        self._send_notification(method, None, params)
        if self.writer.is_full():
            await self._drain()

    async def wait_closed(self) -> ConnectionClosed:
        """Wait until the connection has ended. Return the reason."""
        self._check_loop()
        return await asyncio.shield(self.ended)

    def supports(self, method: AnyMethod) -> bool:
        """Whether the peer has advertised what a method needs."""
        return self.guards.supports(method)

    def has_cancelled_turn(self, session: str) -> bool:
        """Whether this side has cancelled the newest turn of a session."""
        return session in self.calls.cancelled_sessions

    @property
    def handler(self) -> Any:
        """The handler of this side's methods.

        Raises:
            RuntimeError: until the factory has returned it.
        """
        if self.sides.handler is None:
            raise RuntimeError("The factory has not returned the handler yet. Keep the proxy and read `handler` later.")
        return self.sides.handler

    def _check_loop(self) -> None:
        if get_running_loop() is not self.loop:
            advice = "From another thread, use `acp_kit.threads.from_thread` or `asyncio.run_coroutine_threadsafe`."
            raise RuntimeError(f"This connection belongs to another event loop. {advice}")

    def _check_open(self) -> None:
        self._check_loop()
        if self.calls.closed is not None:
            raise copy_of(self.calls.closed)

    def _check_notifications(self) -> None:
        self._check_loop()
        is_over = self.calls.closed is not None and not self.sides.is_open
        if is_over or self.writer.broken or self.sends_nothing:
            raise copy_of(self.calls.closed or ConnectionClosed("The peer no longer reads."))

    def _send_notification(self, wire: str, method: Notification[Any] | None, params: Any) -> None:
        line, is_cancellation = notification_line(wire, params), wire in self.calls.turn_cancellations
        if not is_cancellation and not self.held.creating_requests:
            self.writer.send(line)
            return
        session = session_of(self.sides.profile, params)
        if self.held.send(session, line) and is_cancellation:
            self.calls.note_cancelled_turn(wire, session)

    async def _drain(self) -> None:
        await wait_for_peer(self.limits, self.writer.drain())
        if self.writer.broken:
            # The notification may not have been written.
            self._check_notifications()

    async def _call_after_cancelled_turns(self, method: Request[Any, Any], params: Any) -> Any:
        await self.calls.wait_for_cancelled_turns(method, params)
        self._check_open()
        return await self._call(method.wire, method, params)

    async def _call(self, wire: str, method: Request[Any, Any] | None, params: Any) -> Any:
        calls = self.calls
        self.writer.send(request_line(calls.next_id, wire, params), flush=not calls.pending)
        call = calls.add(wire, method, params)
        try:
            if self.writer.is_full() and (self._draining is None or self._draining.done()):
                # Not awaited, because the response may come first; it notices a broken pipe.
                self._draining = self.tasks.create(self.writer.drain())
            return await call.future
        except asyncio.CancelledError:
            calls.abandon(call)
            raise
        finally:
            calls.end(call)


class InstrumentedChannel(Channel):
    """A channel that sends each message inside of the context manager of `Options.instrument`."""

    async def _call(self, wire: str, method: Request[Any, Any] | None, params: Any) -> Any:
        with self._inside(wire, method, self.calls.next_id, params) as sent:
            return await super()._call(wire, method, sent)

    def _send_notification(self, wire: str, method: Notification[Any] | None, params: Any) -> None:
        with self._inside(wire, method, None, params) as sent:
            super()._send_notification(wire, method, sent)

    def _inside(self, wire: str, method: AnyMethod | None, id: int | None, params: Any) -> Any:
        message = InstrumentedMessage("out", wire, method, id, session_of(self.sides.profile, params), params)
        return self.instrument(message)
