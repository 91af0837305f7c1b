"""The reading half of a connection: splits bytes into lines and decides when reading pauses.

Lines are passed on in the iteration of the event loop that read them. While reading is paused, lines that were read
wait here and further bytes wait in the source.
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

# Lines that are passed on before their handlers run. Small batches stay in cache and are freed by reference counting.
_BATCH = 32


class Reader:
    """Reads what the peer sends; the receiver of its source.

    Args:
        source: where the bytes come from.
        options: the options of the connection.
        writer: knows how much the peer has not read.
        pending: the calls that the peer has not answered.
        backpressure: decides when too much waits.
        receive: decodes and dispatches lines. It never raises.

    Attributes:
        finished: done when no more lines come and all were passed on, with the reason.
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
        self._unread_limit = options.unread_answer_bytes
        self._flood_limit = options.unread_answer_bytes * options.flood_factor
        self._splitter = LineSplitter(options.max_message_bytes)
        self._lines: deque[bytes] = deque()
        self._reason: ConnectionClosed | None = None
        self._paused = False
        self._resume_scheduled = False
        self._draining: asyncio.Task[None] | None = None
        self._loop = asyncio.get_running_loop()
        # Handlers must not inherit the context variables of the code that resumes reading.
        self._context = copy_context()
        self.finished: asyncio.Future[ConnectionClosed] = self._loop.create_future()

    def received(self, data: bytes, /) -> None:
        """Pass on the lines that end in these bytes."""
        self._lines.extend(self._splitter.feed(data))
        if self._splitter.too_large is not None:
            self._reason = self._splitter.too_large
        if not self._paused:
            self._deliver()

    def ended(self, error: OSError | None, /) -> None:
        """Pass on a last line without a newline, then finish."""
        self._lines.extend(self._splitter.end())
        if error is not None:
            self._reason = self._reason or ConnectionClosed(f"Reading from the peer failed: {error}.")
        self._reason = self._reason or ConnectionClosed("The peer closed the connection.")
        if self._paused:
            self.resume_soon()
        else:
            self._deliver()

    def resume_soon(self) -> None:
        """If reading is paused, check in a later iteration of the event loop whether it can continue."""
        if self._paused and not self._resume_scheduled:
            self._resume_scheduled = True
            self._loop.call_soon(self._resume, context=self._context)

    async def stop(self) -> None:
        """Stop reading permanently."""
        self._pause()
        self.finished.cancel()
        if self._draining is not None:
            self._draining.cancel()
            await asyncio.wait({self._draining})
        await self._source.stop()

    @property
    def undelivered(self) -> int:
        """The number of lines that were read and not passed on."""
        return len(self._lines)

    def _deliver(self) -> None:
        """Pass on a batch of lines, then pause, continue or finish."""
        lines = self._lines
        if lines:
            self._receive([lines.popleft() for _ in range(min(_BATCH, len(lines)))])
        if self.finished.done():
            return
        if self._must_pause():
            self._pause()
        elif self._is_flooded():
            self._finish(
                ConnectionClosed(
                    "The peer sent more than can be handled while it owed responses (Options.flood_factor)."
                )
            )
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

    def _finish(self, reason: ConnectionClosed) -> None:
        self._pause()
        if not self.finished.done():
            self.finished.set_result(reason)

    def _must_pause(self) -> bool:
        if self._reason is not None:
            return False  # nothing more is read, and callers may wait for the lines that are here
        if self._backpressure.must_pause():
            return True
        # Asked first, because each chunk that is read comes here (benchmark row `round-trip`).
        return self._writer.response_bytes > self._unread_limit and self._awaits_peer_reading()

    def _is_flooded(self) -> bool:
        if self._reason is not None:
            return False
        if self._backpressure.is_flooded:
            return True
        limit = self._flood_limit
        return self._writer.response_bytes > limit and self._writer.has_unread_responses(limit)

    def _awaits_peer_reading(self) -> bool:
        # A peer that owes a response may itself wait until this side reads.
        if not self._writer.has_unread_responses(self._unread_limit) or self._pending or self._writer.broken:
            return False
        if self._draining is None:
            self._draining = self._loop.create_task(self._drain(), context=self._context)
        return True

    async def _drain(self) -> None:
        await self._writer.drain()
        self._draining = None
        self.resume_soon()
