"""A connection: makes its parts and connects them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import cache
from typing import Any, TypeAlias

from acp_runtime.connection.backpressure import Backpressure
from acp_runtime.connection.cancelled_calls import CancelledCalls
from acp_runtime.connection.dispatch import Dispatch
from acp_runtime.connection.guards import Guards
from acp_runtime.connection.handler_tasks import HandlerTasks
from acp_runtime.connection.held_notifications import HeldNotifications
from acp_runtime.connection.incoming import Incoming
from acp_runtime.connection.initialization import Initialization
from acp_runtime.connection.late_responses import LateResponses
from acp_runtime.connection.load import Load
from acp_runtime.connection.outgoing import Outgoing
from acp_runtime.connection.pending_calls import PendingCalls
from acp_runtime.connection.reader import Reader
from acp_runtime.connection.responses import Responses
from acp_runtime.connection.session_queues import SessionQueues
from acp_runtime.connection.transport import ByteSource, ByteWriter
from acp_runtime.connection.writer import Writer
from acp_runtime.errors import ConnectionClosed, ProtocolVersionMismatch
from acp_runtime.jsonrpc.decoding import Decoder
from acp_runtime.options import Options
from acp_runtime.stubs.methods import AnyMethod
from acp_runtime.stubs.roles import Handler, ProcessInfo
from acp_runtime.stubs.sides import Side

WhyClosed: TypeAlias = Callable[[ConnectionClosed], Awaitable[ConnectionClosed]]


class Connection:
    """One side of a connection.

    Args:
        side: the side, with the methods that it handles.
        factory: makes the handler, given the proxy for the other side.
        source: where the peer's bytes come from.
        writer: where this side's bytes go.
        options: the options of the connection.
        why_closed: adds to the reason when the peer has closed its side, such as an exit code.
        process: the subprocess at the other end, if there is one.

    Attributes:
        remote: the proxy for the other side.
        reader, dispatch, queues, incoming, outgoing, responses, writer: its parts.
        tasks: those of handlers and session queues.
        stopped: done when this side wants to end the connection, with the reason.
        interrupted: done when the closing of the connection was cancelled; replaced each time.
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
        self.stopped: asyncio.Future[ConnectionClosed] = asyncio.get_running_loop().create_future()
        self.interrupted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.tasks: HandlerTasks = HandlerTasks()
        self.writer: Writer = Writer(writer, options, self._write_failed)
        self._pending = pending = PendingCalls(self._resume_reading)
        self._backpressure = backpressure = Backpressure(options, self._resume_reading, self._start_waiting_soon)
        self.reader: Reader = Reader(source, options, self.writer, pending, backpressure, self._receive)
        self.queues: SessionQueues = SessionQueues(self.tasks, backpressure, self._handle_by_default, options)
        held = HeldNotifications(options.max_held_bytes)
        initialization = Initialization(side, options)
        guards = Guards(initialization, options)
        late = LateResponses(options.late_answer_deadline)
        cancelled = CancelledCalls(side, pending, late, backpressure, self.writer, self._answer_cancelled_turn)
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
            process,
        )
        self.remote: Any = side.remote(self.outgoing)
        handler = side.make_handler(factory, self.remote)
        self.outgoing.handler = handler
        handled = side.with_extensions(handler)
        decoder = _decoder(handled)
        self.incoming: Incoming = Incoming(
            handled,
            handler,
            initialization,
            guards,
            backpressure,
            self.queues,
            held,
            self.writer,
            self.tasks,
            decoder.decode,
            options,
            cancelled.is_turn_cancelled,
        )
        self.dispatch: Dispatch = Dispatch(side, decoder, self.incoming, self.responses, self.writer, options)
        source.start(self.reader)

    def stop(self, reason: ConnectionClosed) -> None:
        """End the connection from this side."""
        if not self.stopped.done():
            self.stopped.set_result(reason)

    @property
    def load(self) -> Load:
        """The number of calls, tasks and messages at this moment."""
        return Load(len(self._pending), len(self.tasks), *self._backpressure.load)

    @property
    def closed(self) -> asyncio.Future[ConnectionClosed]:
        """A future that is done when everything has ended, with the reason."""
        return self.outgoing.closed

    def stop_or_hurry(self) -> None:
        """Close the connection. If it is closing already, cut short the present wait."""
        if not self.stopped.done():
            self.stop(ConnectionClosed("The connection was closed by this side."))
        elif not self.interrupted.done():
            self.interrupted.set_result(None)

    # Parts that are made early call those that are made later through these methods. The reader is made before the
    # factory runs, because calls that the factory starts resume reading.

    def _receive(self, lines: list[bytes]) -> None:
        self.dispatch.receive(lines)

    def _resume_reading(self) -> None:
        self.reader.resume_soon()

    def _start_waiting_soon(self) -> None:
        self.incoming.start_waiting_soon()

    def _handle_by_default(self, method: AnyMethod, params: Any) -> None:
        self.incoming.handle_by_default(method, params)

    def _answer_cancelled_turn(self, wire: str, session: str) -> None:
        self.incoming.answer_cancelled_turn(wire, session)

    def _mismatch(self, error: ProtocolVersionMismatch) -> None:
        reason = ConnectionClosed(f"{error}.")
        self.outgoing.close(reason)
        self.stop(reason)

    def _write_failed(self, error: OSError) -> None:
        self.stop(ConnectionClosed(f"Writing to the peer failed: {error}."))


@cache
def _decoder(side: Side[Any]) -> Decoder:
    """Return the decoder of a side. Its connections share it, as building its validators takes tens of milliseconds."""
    return Decoder(side.requests, side.notifications)
