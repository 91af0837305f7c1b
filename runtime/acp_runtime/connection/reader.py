"""The reading half of a connection: bytes into lines, and when reading has to pause.

A line is handed on in the turn of the event loop that read it. While reading is paused, lines that were read wait here
and further bytes wait in the source.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from contextvars import copy_context

from acp_runtime.connection.backpressure import Backpressure
from acp_runtime.connection.pending_calls import PendingCalls
from acp_runtime.connection.transport import ByteSource
from acp_runtime.connection.writer import Writer
from acp_runtime.errors import ConnectionClosed
from acp_runtime.jsonrpc.framing import LineSplitter
from acp_runtime.options import Options

# Lines that are handed on before their handlers run. Small batches stay in cache and are freed by reference counting.
_BATCH = 32


class Reader:
    """Everything one side receives; the receiver of its source.

    Args:
        source: where the bytes come from.
        options: of the connection.
        writer: says how much the peer leaves unread.
        pending: the calls that the peer owes a response to.
        backpressure: says when too much waits.
        receive: understands lines and sees to them. It never raises.

    Attributes:
        finished: why nothing more comes, once everything was handed on.
    """

    def __init__(
        self,
        source: ByteSource,
        options: Options,
        writer: Writer,
        pending: PendingCalls,
        backpressure: Backpressure,
        receive: Callable[[list[bytes]], None],
    ) -> None:
        self._source = source
        self._writer = writer
        self._pending = pending
        self._backpressure = backpressure
        self._receive = receive
        self._limit = options.unread_answer_bytes
        self._factor = options.flood_factor
        self._splitter = LineSplitter(options.max_message_bytes)
        self._lines: deque[bytes] = deque()
        self._reason: ConnectionClosed | None = None
        self._paused = False
        self._resume_scheduled = False
        self._draining: asyncio.Task[None] | None = None
        self._loop = asyncio.get_running_loop()
        # Handlers must not inherit the context variables of whoever makes reading go on.
        self._context = copy_context()
        self.finished: asyncio.Future[ConnectionClosed] = self._loop.create_future()

    def received(self, data: bytes, /) -> None:
        """Hand on the lines that end in these bytes."""
        self._lines.extend(self._splitter.feed(data))
        if self._splitter.too_large is not None:
            self._reason = self._splitter.too_large
        if not self._paused:
            self._deliver()

    def ended(self, error: OSError | None, /) -> None:
        """Hand on a last line without a newline; that was all."""
        self._lines.extend(self._splitter.end())
        if error is not None:
            self._reason = self._reason or ConnectionClosed(f"Reading from the peer failed: {error}.")
        self._reason = self._reason or ConnectionClosed("The peer closed the connection.")
        if self._paused:
            self.resume_soon()
        else:
            self._deliver()

    def resume_soon(self) -> None:
        """Look soon whether reading can go on."""
        if self._paused and not self._resume_scheduled:
            self._resume_scheduled = True
            self._loop.call_soon(self._resume, context=self._context)

    async def stop(self) -> None:
        """Receive nothing more."""
        self._pause()
        self.finished.cancel()
        if self._draining is not None:
            self._draining.cancel()
            await asyncio.wait({self._draining})
        await self._source.stop()

    def _deliver(self) -> None:
        """Hand on a batch of what is here, and see how it goes on."""
        lines = self._lines
        if lines:
            self._receive([lines.popleft() for _ in range(min(_BATCH, len(lines)))])
        if self.finished.done():
            return
        if self._must_pause():
            self._pause()
        elif self._is_flooded():
            self._finish(ConnectionClosed("The peer sent more than can be handled while it owed answers."))
        elif lines:
            self._pause()
            self.resume_soon()
        elif self._reason is not None:
            self._finish(self._reason)
        elif self._paused:
            self._paused = False
            self._source.resume()

    def _resume(self) -> None:
        self._resume_scheduled = False
        if not self.finished.done() and not self._must_pause():
            self._deliver()

    def _pause(self) -> None:
        self._paused = True
        self._source.pause()

    @property
    def unhandled(self) -> int:
        """How many lines were read and not handed on."""
        return len(self._lines)

    def _finish(self, reason: ConnectionClosed) -> None:
        self._pause()
        if not self.finished.done():
            self.finished.set_result(reason)

    def _must_pause(self) -> bool:
        if self._reason is not None:
            return False  # nothing more comes, and callers may wait for what is here
        return self._backpressure.must_pause() or self._awaits_peer_reading()

    def _is_flooded(self) -> bool:
        if self._reason is not None:
            return False
        return self._backpressure.is_flooded or self._writer.has_unread_responses(self._limit * self._factor)

    def _awaits_peer_reading(self) -> bool:
        # A peer that owes an answer may be waiting likewise, for this side to read what it has answered.
        if not self._writer.has_unread_responses(self._limit) or self._pending or self._writer.broken:
            return False
        if self._draining is None:
            self._draining = self._loop.create_task(self._drain(), context=self._context)
        return True

    async def _drain(self) -> None:
        await self._writer.drain()
        self._draining = None
        self.resume_soon()
