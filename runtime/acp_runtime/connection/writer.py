"""The writing half of a connection: writes lines whole and in order.

The first line in an iteration of the event loop is written at once, for a short round trip; further lines are
written together at its end, for throughput.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from acp_runtime.connection.in_flight import Tasks
from acp_runtime.connection.interfaces import ByteWriter
from acp_runtime.connection.lifecycle import Lifecycle
from acp_runtime.connection.limits import Limits
from acp_runtime.connection.on_frame import frame_observer
from acp_runtime.jsonrpc.framing import MODEL_BYTES
from acp_runtime.options import Options


@dataclass(eq=False, repr=False)
class Writer:
    """Writes what one side sends.

    Attributes:
        target: where the bytes go.
        options: a send waits while more bytes than `write_high_water_bytes` are unwritten; `on_frame` sees each line.
        lifecycle: is stopped if writing fails. Once the peer has left, failures and unread answers don't matter.
        limits: count the answers that the peer doesn't read.
        tasks: for the tasks that wait until it reads them.
        broken: whether writing has failed; nothing more is written.
    """

    target: ByteWriter
    options: Options
    lifecycle: Lifecycle
    limits: Limits
    tasks: Tasks
    broken: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self._high_water = self.options.write_high_water_bytes
        self._observe = frame_observer(self.options)
        self._lines: list[bytes] = []
        self._size = 0
        self._loop = asyncio.get_running_loop()
        self._wrote_in_iteration = False
        self._draining: asyncio.Task[None] | None = None
        self.target.on_failure(self._break)

    def is_full(self) -> bool:
        """Return whether a sender should wait in `drain`."""
        return self._size > self._high_water or self.target.unwritten > self._high_water

    def send(self, line: bytes, *, flush: bool = False) -> None:
        """Write a line: at once if it is the first in this iteration of the event loop, otherwise when that ends.

        Args:
            line: one message.
            flush: write now; don't batch.
        """
        if self._observe is not None:
            self._observe("out", line[:-1])
        if self._wrote_in_iteration:
            self._lines.append(line)
            self._size += len(line)
            if self._size > self._high_water:
                self.write_all()  # joined with the next ones, they would take their memory twice
            return
        if not flush:
            self._wrote_in_iteration = True
            self._loop.call_soon(self._end_iteration)
        self._write(line)

    def answer(self, line: bytes, *, flush: bool = False) -> None:
        """Write an answer. Unread answers count toward the flood limit."""
        self.send(line, flush=flush)
        if self.is_full() and not self.lifecycle.peer_left.done():
            self.limits.add(size := len(line) + MODEL_BYTES)
            self.tasks.create(self.drain(), lambda _: self.limits.remove(size))

    def when_sent(self, call: Callable[[], object]) -> None:
        """Call a function: the last answer was sent."""
        call()

    def write_all(self) -> None:
        """Write the lines of this iteration now."""
        if self._lines:
            lines, self._lines, self._size = self._lines, [], 0
            self._write(lines[0] if len(lines) == 1 else b"".join(lines))

    async def drain(self) -> None:
        """Wait while too much is unwritten."""
        self.write_all()
        try:
            await self.target.drain()
        except OSError as error:
            self._break(error)
        # Even with a fast peer, a sender in a loop must let other tasks run.
        await asyncio.sleep(0)

    def drain_soon(self) -> None:
        """If too much is unwritten, drain in a task, which notices a broken pipe."""
        if self.is_full() and (self._draining is None or self._draining.done()):
            self._draining = self.tasks.create(self.drain())

    async def close(self, deadline: float) -> None:
        """Write everything and close, within `deadline` seconds."""
        self.write_all()
        try:
            with suppress(TimeoutError, OSError):
                async with asyncio.timeout(deadline):
                    await self.target.close()
        finally:
            self.target.abort()

    def _write(self, data: bytes) -> None:
        try:
            if not self.broken:
                self.target.write(data)
        except OSError as error:
            self._break(error)

    def _end_iteration(self) -> None:
        self._wrote_in_iteration = False
        self.write_all()

    def _break(self, error: OSError) -> None:
        if not self.broken:
            self.broken = True
            if not self.lifecycle.peer_left.done():
                self.lifecycle.stop(f"Writing to the peer failed: {error}.")
