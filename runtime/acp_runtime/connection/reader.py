"""The reading half of a connection: splits bytes into lines and passes them on, unless reading pauses.

Lines are passed on in the iteration of the event loop that read them. While reading is paused, lines that were read
wait here and further bytes wait in the source.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from acp_runtime.connection.interfaces import ByteSource
from acp_runtime.connection.lifecycle import Lifecycle
from acp_runtime.connection.limits import Limits
from acp_runtime.connection.on_frame import frame_observer
from acp_runtime.errors import ConnectionClosed
from acp_runtime.jsonrpc.framing import LineSplitter
from acp_runtime.options import Options

# Lines that are passed on before their handlers run. Small batches stay in cache and are freed by reference counting.
_BATCH = 32


class Reader:
    """Reads what the peer sends; the receiver of its source.

    Args:
        source: where the bytes come from.
        lifecycle: is told when no more lines come.
        limits: says when reading pauses and when there is a flood.
        options: how long a line may be, and how long reading pauses although no handler ends;
            `on_frame` sees each line.

    Attributes:
        receive: handles each line, and never raises. Set before `start`; it may be replaced while a line is handled.
        lines: those that were read and not passed on.
        was_batch: set while a line is handled that holds many messages: reading may have to pause after them.
        reason: why no more lines come; None while they may.
    """

    def __init__(self, source: ByteSource, lifecycle: Lifecycle, limits: Limits, options: Options) -> None:
        self._source = source
        self._lifecycle = lifecycle
        self._limits = limits
        limits.on_room = self._resume_soon
        self._splitter = LineSplitter(options.max_message_bytes)
        self._deadline = options.handler_deadline
        self._observe = frame_observer(options)
        self._loop = asyncio.get_running_loop()
        self.receive: Callable[[bytes], object]
        self.lines: deque[bytes] = deque()
        self.was_batch: bool = False
        self.reason: ConnectionClosed | None = None
        self._is_paused = False
        self._resume_scheduled = False
        self._stall_timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Start reading."""
        self._source.start(self)

    def buffered(self) -> int:
        """Return how many bytes the messages take whose handling has not ended."""
        return self._limits.bytes

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
            self._resume_soon()
        else:
            self._deliver()

    def _resume_soon(self) -> None:
        """If reading is paused, check in a later iteration of the event loop whether it can continue."""
        if self._is_paused and not self._resume_scheduled:
            self._resume_scheduled = True
            self._loop.call_soon(self._resume)

    async def stop(self) -> None:
        """Stop reading permanently."""
        self._pause()
        self._lifecycle.peer_left.cancel()
        if self._stall_timer is not None:
            self._stall_timer.cancel()
        await self._source.stop()

    def _deliver(self) -> None:
        """Pass on a batch of lines, then pause, continue or finish."""
        lines, limits = self.lines, self._limits
        for _ in range(min(_BATCH, len(lines))):
            line = lines.popleft()
            if self._observe is not None:
                self._observe("in", line)
            self.receive(line)
            if self.was_batch:
                self.was_batch = False
                break
        if self._lifecycle.peer_left.done():
            return
        # At the end, nothing more is read, and callers may wait for the lines that are here.
        if self.reason is None and limits.must_pause():
            self._pause()
            self._watch_for_stall()
        elif self.reason is None and limits.is_flooded:
            self._finish(ConnectionClosed("The peer sent more than can be handled (Options.flood_factor)."))
        elif lines:
            self._pause()
            self._resume_soon()
        elif self.reason is not None:
            self._finish(self.reason)
        elif self._is_paused:
            self._is_paused = False
            self._source.resume()

    def _resume(self) -> None:
        self._resume_scheduled = False
        if self.reason is None and self._limits.must_pause():
            self._watch_for_stall()  # the handler that waited for the peer has its answer
        elif not self._lifecycle.peer_left.done():
            self._deliver()

    def _watch_for_stall(self) -> None:
        """Read on if no handler ends within the deadline while reading is paused."""
        if self._stall_timer is None:
            self._stall_timer = self._loop.call_later(self._deadline, self._look_for_stall, self._limits.ended)

    def _look_for_stall(self, ended: int) -> None:
        self._stall_timer = None
        if self._limits.is_paused and self._limits.ended == ended:
            self._limits.read_on()
        if self._limits.is_paused:
            self._watch_for_stall()

    def _pause(self) -> None:
        self._is_paused = True
        self._source.pause()

    def _finish(self, reason: ConnectionClosed) -> None:
        self._pause()
        self._lifecycle.peer_left.set_result(reason)
