"""The reading half of a connection: splits bytes into lines and passes them on, unless reading pauses.

Lines are passed on in the iteration of the event loop that read them. While reading is paused, lines that were read
wait here and further bytes wait in the source.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING

from acp_runtime.connection.transport import ByteSource
from acp_runtime.errors import ConnectionClosed
from acp_runtime.jsonrpc.framing import LineSplitter

if TYPE_CHECKING:
    from acp_runtime.connection.connection import Connection

# Lines that are passed on before their handlers run. Small batches stay in cache and are freed by reference counting.
_BATCH = 32


class Reader:
    """Reads what the peer sends; the receiver of its source.

    Args:
        connection: decodes and handles the lines.
        source: where the bytes come from.

    Attributes:
        lines: those that were read and not passed on.
        reason: why no more lines come; None while they may.
        finished: done when no more lines come and all were passed on, with the reason.
    """

    def __init__(self, connection: Connection, source: ByteSource) -> None:
        self._connection = connection
        self._source = source
        self._splitter = LineSplitter(connection.options.max_message_bytes)
        self.lines: deque[bytes] = deque()
        self.reason: ConnectionClosed | None = None
        self._is_paused = False
        self._resume_scheduled = False
        self.finished: asyncio.Future[ConnectionClosed] = connection.loop.create_future()

    def received(self, data: bytes, /) -> None:
        """Pass on the lines that end in these bytes."""
        self.lines.extend(self._splitter.feed(data))
        if self._splitter.too_large is not None:
            self.reason = self._splitter.too_large
        if not self._is_paused:
            self._deliver()

    def ended(self, error: OSError | None, /) -> None:
        """Pass on a last line without a newline, then finish."""
        self.lines.extend(self._splitter.end())
        text = "The peer closed the connection." if error is None else f"Reading from the peer failed: {error}."
        self.reason = self.reason or ConnectionClosed(text)
        if self._is_paused:
            self.resume_soon()
        else:
            self._deliver()

    def resume_soon(self) -> None:
        """If reading is paused, check in a later iteration of the event loop whether it can continue."""
        if self._is_paused and not self._resume_scheduled:
            self._resume_scheduled = True
            self._connection.loop.call_soon(self._resume)

    async def stop(self) -> None:
        """Stop reading permanently."""
        self._pause()
        self.finished.cancel()
        await self._source.stop()

    def _deliver(self) -> None:
        """Pass on a batch of lines, then pause, continue or finish."""
        lines, limits = self.lines, self._connection.limits
        if lines:
            self._connection.dispatch.receive([lines.popleft() for _ in range(min(_BATCH, len(lines)))])
        if self.finished.done():
            return
        # At the end, nothing more is read, and callers may wait for the lines that are here.
        if self.reason is None and limits.must_pause():
            self._pause()
        elif self.reason is None and limits.is_flooded:
            self._finish(ConnectionClosed("The peer sent more than can be handled (Options.flood_factor)."))
        elif lines:
            self._pause()
            self.resume_soon()
        elif self.reason is not None:
            self._finish(self.reason)
        elif self._is_paused:
            self._is_paused = False
            self._source.resume()

    def _resume(self) -> None:
        self._resume_scheduled = False
        if not self.finished.done() and (self.reason is not None or not self._connection.limits.must_pause()):
            self._deliver()

    def _pause(self) -> None:
        self._is_paused = True
        self._source.pause()

    def _finish(self, reason: ConnectionClosed) -> None:
        self._pause()
        if not self.finished.done():
            self.finished.set_result(reason)
