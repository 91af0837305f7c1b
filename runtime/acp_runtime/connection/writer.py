"""The writing half of a connection: writes lines whole and in order.

The first line in an iteration of the event loop is written at once, for a short round trip; further lines are
written together at its end, for throughput.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from acp_runtime.connection.interfaces import ByteWriter
from acp_runtime.connection.limits import MODEL_BYTES, Limits
from acp_runtime.connection.on_frame import frame_observer
from acp_runtime.connection.tasks import Tasks
from acp_runtime.options import Options


class Writer:
    """Writes what one side sends.

    Args:
        writer: where the bytes go.
        options: a send waits while more bytes than `write_high_water_bytes` are unwritten; `on_frame` sees each line.
        limits: count the answers that the peer doesn't read.
        tasks: for the tasks that wait until it reads them.
        peer_left: done when the peer has closed its side. From then on a failure and unread answers don't matter.
        stop: ends the connection, because writing has failed.

    Attributes:
        broken: whether writing has failed; nothing more is written.
    """

    def __init__(
        self,
        writer: ByteWriter,
        options: Options,
        limits: Limits,
        tasks: Tasks,
        peer_left: asyncio.Future[Any],
        stop: Callable[[str], object],
    ) -> None:
        self._writer = writer
        self._limits = limits
        self._tasks = tasks
        self._peer_left = peer_left
        self._stop = stop
        self._high_water = options.write_high_water_bytes
        self._observe = frame_observer(options)
        self._lines: list[bytes] = []
        self._size = 0
        self._loop = asyncio.get_running_loop()
        self._wrote_in_iteration = False
        self.broken: bool = False
        writer.on_failure(self._break)

    @property
    def is_full(self) -> bool:
        """Whether a sender should wait in `drain`."""
        return self._size > self._high_water or self._writer.unwritten > self._high_water

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
            return
        if not flush:
            self._wrote_in_iteration = True
            self._loop.call_soon(self._end_iteration)
        self._write(line)

    def answer(self, line: bytes, *, flush: bool = False) -> None:
        """Write an answer. Those that the peer doesn't read count as a flood at last."""
        self.send(line, flush=flush)
        if self.is_full and not self._peer_left.done():
            self._limits.add(size := len(line) + MODEL_BYTES)
            self._tasks.create(self.drain(), lambda _: self._limits.remove(size))

    def write_all(self) -> None:
        """Write the lines of this iteration now."""
        if self._lines:
            lines, self._lines, self._size = self._lines, [], 0
            self._write(lines[0] if len(lines) == 1 else b"".join(lines))

    async def drain(self) -> None:
        """Wait while too much is unwritten."""
        self.write_all()
        try:
            await self._writer.drain()
        except OSError as error:
            self._break(error)
        # Even with a fast peer, a sender in a loop must let other tasks run.
        await asyncio.sleep(0)

    async def close(self, deadline: float) -> None:
        """Write everything and close, within `deadline` seconds."""
        self.write_all()
        try:
            with suppress(TimeoutError, OSError):
                async with asyncio.timeout(deadline):
                    await self._writer.close()
        finally:
            self._writer.abort()

    def _write(self, data: bytes) -> None:
        try:
            if not self.broken:
                self._writer.write(data)
        except OSError as error:
            self._break(error)

    def _end_iteration(self) -> None:
        self._wrote_in_iteration = False
        self.write_all()

    def _break(self, error: OSError) -> None:
        if not self.broken:
            self.broken = True
            if not self._peer_left.done():
                self._stop(f"Writing to the peer failed: {error}.")
