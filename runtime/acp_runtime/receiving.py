"""The reading half of a connection: bytes into lines for whoever understands them, and when reading has to pause.

A line is handed on in the very turn of the event loop that read it, unless reading is paused: then what was read
already waits here, and what comes waits where it comes from.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from contextvars import copy_context

from acp_runtime.calls import Calls
from acp_runtime.errors import ConnectionClosed
from acp_runtime.flow import Flow
from acp_runtime.framing import LineReader
from acp_runtime.options import Options
from acp_runtime.outbox import Outbox
from acp_runtime.streams import ByteSource

# Lines that are handed on before their handlers get their turn. What few messages there are at a time stays in the
# processor's cache, and Python's garbage collector never gets to see it.
_BATCH = 32


class Inbox:
    """Everything one side receives; the receiver of its source.

    Args:
        source: where the bytes come from.
        options: of the connection.
        outbox: says how much the peer leaves unread.
        calls: those that the peer owes an answer to.
        take: understands lines and sees to them.

    Attributes:
        flow: says how much is being handled; reading pauses if that is too much.
        over: why nothing more comes, once that is so.
    """

    def __init__(
        self,
        source: ByteSource,
        options: Options,
        outbox: Outbox,
        calls: Calls,
        take: Callable[[list[bytes]], None],
    ) -> None:
        self._source = source
        self._outbox = outbox
        self._calls = calls
        self._take = take
        self._limit = options.unread_answer_bytes
        self._factor = options.flood_factor
        self._cut = LineReader(options.max_message_bytes)
        self._lines: deque[bytes] = deque()
        self._reason: ConnectionClosed | None = None
        self._paused = False
        self._goes_on = False
        self._draining: asyncio.Task[None] | None = None
        self._loop = asyncio.get_running_loop()
        # Not that of whoever makes reading go on: what is read has nothing to do with them.
        self._context = copy_context()
        self.flow: Flow = Flow(options, self.go_on)
        self.over: asyncio.Future[ConnectionClosed] = self._loop.create_future()

    def received(self, data: bytes, /) -> None:
        """Hand on the lines that end in these bytes."""
        self._lines.extend(self._cut.feed(data))
        if self._cut.too_large is not None:
            self._reason = self._cut.too_large
        if not self._paused:
            self._hand_on()

    def ended(self, error: OSError | None, /) -> None:
        """Hand on a last line without a newline; that was all."""
        self._lines.extend(self._cut.end())
        if error is not None:
            self._reason = self._reason or ConnectionClosed(f"Reading from the peer failed: {error}.")
        self._reason = self._reason or ConnectionClosed("The peer closed the connection.")
        if not self._paused:
            self._hand_on()

    def go_on(self) -> None:
        """Look soon whether reading can go on."""
        if self._paused and not self._goes_on:
            self._goes_on = True
            self._loop.call_soon(self._go_on, context=self._context)

    async def stop(self) -> None:
        """Receive nothing more."""
        self._pause()
        self.over.cancel()
        if self._draining is not None:
            self._draining.cancel()
            await asyncio.wait({self._draining})
        await self._source.stop()

    def _hand_on(self) -> None:
        """Hand on a batch of what is here, and see how it goes on."""
        lines = self._lines
        try:
            if lines:
                self._take([lines.popleft() for _ in range(min(_BATCH, len(lines)))])
        except Exception as error:
            # Of `on_frame`, which is not ours.
            self._end(error)
            return
        if self._must_pause():
            self._pause()
        elif self.flow.flooded or self._outbox.has_unread_answers(self._limit * self._factor):
            self._end(ConnectionClosed("The peer sent more than can be handled while it owed answers."))
        elif lines:
            self._pause()
            self.go_on()
        elif self._reason is not None:
            self._end(self._reason)
        elif self._paused:
            self._paused = False
            self._source.resume()

    def _go_on(self) -> None:
        self._goes_on = False
        if not self.over.done() and not self._must_pause():
            self._hand_on()

    def _pause(self) -> None:
        self._paused = True
        self._source.pause()

    def _end(self, reason: Exception) -> None:
        self._pause()
        if self.over.done():
            return
        if isinstance(reason, ConnectionClosed):
            self.over.set_result(reason)
        else:
            self.over.set_exception(reason)

    def _must_pause(self) -> bool:
        return self.flow.pause() or self._waits_for_the_peer_to_read()

    def _waits_for_the_peer_to_read(self) -> bool:
        # A peer that owes an answer may be waiting likewise, for this side to read what it has answered.
        if not self._outbox.has_unread_answers(self._limit) or self._calls.waiting or self._outbox.broken:
            return False
        if self._draining is None:
            self._draining = self._loop.create_task(self._drain(), context=self._context)
        return True

    async def _drain(self) -> None:
        await self._outbox.drain()
        self._draining = None
        self.go_on()
