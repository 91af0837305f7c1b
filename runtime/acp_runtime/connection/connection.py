"""A connection: JSON-RPC both ways over a source of bytes and a writer, run on asyncio.

Joins what reads, decodes, handles, calls and writes. Owns the tasks of the handlers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextvars import copy_context
from functools import cache
from logging import DEBUG, WARNING, getLogger
from typing import Any, TypeAlias

from acp_runtime.connection.backpressure import Backpressure
from acp_runtime.connection.cancelled_calls import CancelledCalls
from acp_runtime.connection.guards import Guards
from acp_runtime.connection.held_notifications import HeldNotifications
from acp_runtime.connection.incoming import Incoming
from acp_runtime.connection.initialization import Initialization
from acp_runtime.connection.late_responses import LateResponses
from acp_runtime.connection.load import Load
from acp_runtime.connection.observer import frame_observer
from acp_runtime.connection.outgoing import Outgoing
from acp_runtime.connection.pending_calls import PendingCalls
from acp_runtime.connection.reader import Reader
from acp_runtime.connection.responses import Responses
from acp_runtime.connection.session_queues import SessionQueues
from acp_runtime.connection.transport import ByteSource, ByteWriter
from acp_runtime.connection.writer import Writer
from acp_runtime.errors import ConnectionClosed, InvalidParams, ProtocolVersionMismatch
from acp_runtime.jsonrpc.decoding import Decoder
from acp_runtime.jsonrpc.error_responses import safe_error_line
from acp_runtime.jsonrpc.messages import (
    IncomingNotification,
    IncomingRequest,
    IncomingResponse,
    InvalidNotification,
    Refused,
)
from acp_runtime.logs import ThrottledLogger
from acp_runtime.options import Options
from acp_runtime.stubs.roles import Handler, ProcessInfo
from acp_runtime.stubs.sides import Side

WhyClosed: TypeAlias = Callable[[ConnectionClosed], Awaitable[ConnectionClosed]]

_logger = getLogger(__name__)


class Connection:
    """One side of a connection.

    Args:
        side: which one, with everything it handles.
        factory: makes the handler; gets the proxy for the other side.
        source: where the peer's bytes come from.
        writer: where this side's bytes go.
        options: how it behaves.
        why_closed: adds to the reason when the peer has gone, such as an exit code.
        process: the subprocess at the other end, if there is one.

    Attributes:
        remote: the proxy for the other side.
        reader, writer, queues, incoming, outgoing, responses: its parts.
        tasks: those of handlers, and what is called with each when it has ended.
        interrupted: done when this side is in a hurry to close; made anew each time.
    """

    def __init__(
        self,
        side: Side[Any],
        factory: Callable[[Any], Handler],
        source: ByteSource,
        writer: ByteWriter,
        options: Options,
        why_closed: WhyClosed | None = None,
        process: ProcessInfo | None = None,
    ) -> None:
        self.options = options
        self.why_closed = why_closed
        self._loop = asyncio.get_running_loop()
        self._context = copy_context()
        self.tasks: dict[asyncio.Task[Any], Callable[[asyncio.Task[Any]], None]] = {}
        self.stopped: asyncio.Future[ConnectionClosed] = self._loop.create_future()
        self.interrupted: asyncio.Future[None] = self._loop.create_future()
        self._log = ThrottledLogger(_logger)
        self._observe = frame_observer(options)
        self._has_peer_spoken = side.role == "agent"
        self._banner = ""
        self._decoder = _decoder(side)
        self.writer: Writer = Writer(writer, options, self._write_failed)
        self._pending = pending = PendingCalls()
        self._backpressure = backpressure = Backpressure(options, self._resume_reading)
        self.reader: Reader = Reader(source, options, self.writer, pending, backpressure, self._receive)
        self.queues: SessionQueues = SessionQueues(self._spawn, backpressure, options)
        held = HeldNotifications(options.max_held_bytes)
        initialization = Initialization(side, options)
        guards = Guards(initialization, options)
        late = LateResponses(options.late_answer_deadline)
        cancelled = CancelledCalls(side.profile, pending, late, backpressure, self.writer, self._answer_own_turn)
        self.responses: Responses = Responses(
            side.profile, initialization, guards, self.queues, pending, late, process, self._mismatch
        )
        self.outgoing: Outgoing = Outgoing(
            side.profile,
            initialization,
            guards,
            backpressure,
            self.queues,
            held,
            self.writer,
            pending,
            late,
            cancelled,
            self.responses,
            on_call=self.reader.resume_soon,
            process=process,
        )
        self.remote: Any = side.remote(self.outgoing)
        cancelled.knows(self.remote.requests, self.remote.notifications)
        handler = factory(self.remote)
        self.outgoing.handler = handler
        self.incoming: Incoming = Incoming(
            side,
            handler,
            initialization,
            guards,
            backpressure,
            self.queues,
            held,
            self.writer,
            self._spawn,
            self._decoder.decode,
            options,
            cancelled.is_turn_cancelled,
        )
        source.start(self.reader)

    def stop(self, reason: ConnectionClosed) -> None:
        """End the connection from this side."""
        if not self.stopped.done():
            self.stopped.set_result(reason)

    @property
    def load(self) -> Load:
        """What it has in hand at the moment."""
        return Load(len(self._pending), len(self.tasks), *self._backpressure.load)

    @property
    def closed(self) -> asyncio.Future[ConnectionClosed]:
        """Done when everything has ended, with the reason."""
        return self.outgoing.closed

    def explained(self, reason: ConnectionClosed) -> ConnectionClosed:
        """The reason why it ended, with what an agent printed that never said anything else."""
        if not self._banner or self._has_peer_spoken:
            return reason
        text = f"{reason.reason} Before that it sent {self._banner}."
        return type(reason)(text, reason.exit_code, reason.stderr)

    def stop_or_hurry(self) -> None:
        """The task that runs this was cancelled: close, and the next time hurry."""
        if not self.stopped.done():
            self.stop(ConnectionClosed("The connection was closed by this side."))
        elif not self.interrupted.done():
            self.interrupted.set_result(None)

    def _receive(self, lines: list[bytes]) -> None:
        for line in lines:
            if self._observe is not None:
                self._observe("in", line)
            message = self._decoder.decode(line)
            if isinstance(message, IncomingNotification):
                self.incoming.notification(message, line)
            elif isinstance(message, IncomingRequest):
                self.incoming.request(message, line)
            elif isinstance(message, IncomingResponse):
                self.responses.received(message)
            elif isinstance(message, Refused):
                self._refused(message, line)
            elif isinstance(message, InvalidNotification):
                self.incoming.invalid_notification(message, line)
            else:
                self._log.log(DEBUG, "ignored", "Ignored a notification: %s", message.reason)
            if not self._has_peer_spoken:
                self._has_peer_spoken = not isinstance(message, Refused)

    def _refused(self, message: Refused, line: bytes) -> None:
        """Answer what can't be handled. What an agent prints before its first message is reported once (a banner)."""
        if message.error.code == InvalidParams.default_code:
            self.incoming.invalid_request(message, line)
            return
        if message.response_to is not None:
            self.responses.fail_unreadable(message.response_to, message.description)
        if message.id is None and message.error.code == -32700:
            if not self._has_peer_spoken and self._banner:
                return
            self._banner = self._banner or message.description
        if message.description:
            self._log.log(WARNING, "refused", "The peer sent %s", message.description)
        self.writer.answer(safe_error_line(message.id, message.error))

    def _spawn(
        self, coroutine: Coroutine[Any, Any, Any], ended: Callable[[asyncio.Task[Any]], None]
    ) -> asyncio.Task[Any]:
        """A task of this connection; `ended` is called with it when it has ended."""
        # Not the context variables of the caller or handler that made it possible to start.
        task = self._loop.create_task(coroutine, context=self._context.copy())
        self.tasks[task] = ended
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self.tasks.pop(task)(task)

    def _resume_reading(self) -> None:
        self.reader.resume_soon()

    def _answer_own_turn(self, wire: str, session: str) -> None:
        self.incoming.cancellation.of_own_turn(wire, session)

    def _mismatch(self, error: ProtocolVersionMismatch) -> None:
        reason = ConnectionClosed(f"{error}.")
        self.outgoing.close(reason)
        self.stop(reason)

    def _write_failed(self, error: OSError) -> None:
        self.stop(ConnectionClosed(f"Writing to the peer failed: {error}."))


@cache
def _decoder(side: Side[Any]) -> Decoder:
    """Shared by the connections of a side: building its validators takes tens of milliseconds."""
    return Decoder(side.requests, side.notifications)
