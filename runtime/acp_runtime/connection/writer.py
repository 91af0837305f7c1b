"""The writing half of a connection: lines on their way out, written whole and in order.

The first line of a turn of the event loop is written at once, for a short way there and back; the others of that turn
follow together at its end, for throughput.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from acp_runtime.connection.observer import frame_observer
from acp_runtime.connection.transport import ByteWriter
from acp_runtime.options import Options

# How many answers are remembered before it is looked at which of them have been read.
_ANSWERS = 256


class Writer:
    """Everything one side sends.

    Args:
        writer: where it goes.
        options: a send waits while more bytes than `write_high_water_bytes` are unwritten; `on_frame` sees each line.
        on_broken: called once if nothing can be written anymore.

    Attributes:
        broken: nothing can be written anymore.
    """

    def __init__(self, writer: ByteWriter, options: Options, on_broken: Callable[[OSError], None]) -> None:
        self._writer = writer
        self._high_water = options.write_high_water_bytes
        self._observe = frame_observer(options)
        self._on_broken = on_broken
        self._lines: list[bytes] = []
        self._size = 0
        self._loop = asyncio.get_running_loop()
        self._turn_has_begun = False
        # Where each answer ends, counted from the first byte that was ever sent, and its size. Some have been read.
        self._answers: deque[tuple[int, int]] = deque()
        self._answer_bytes = 0
        self._total = 0
        self.broken: bool = False
        writer.on_failure(self._break)

    @property
    def unwritten(self) -> int:
        """How many bytes the peer hasn't taken yet."""
        return self._size + self._writer.unwritten

    @property
    def is_full(self) -> bool:
        """Whether a sender should wait in `drain`."""
        return self._size > self._high_water or self._writer.unwritten > self._high_water

    def has_unread_responses(self, limit: int) -> bool:
        """Whether the peer leaves more bytes than this untaken, and as much of answers, one in part included."""
        if self._answer_bytes <= limit or self.unwritten <= limit:
            return False
        self._forget_read_responses()
        return self._answer_bytes > limit

    def answer(self, line: bytes, *, flush: bool = False) -> None:
        """Put in a line that the peer has asked for."""
        self.send(line, flush=flush)
        self._answers.append((self._total, len(line)))
        self._answer_bytes += len(line)
        if len(self._answers) > _ANSWERS:
            self._forget_read_responses()

    def send(self, line: bytes, *, flush: bool = False) -> None:
        """Write a line: at once if it is the first of this turn of the loop, at its end with the others if not.

        Args:
            line: one message.
            flush: write now; don't batch.
        """
        if self._observe is not None:
            self._observe("out", line[:-1])
        self._total += len(line)
        if self._turn_has_begun:
            self._lines.append(line)
            self._size += len(line)
            return
        if not flush:
            self._turn_has_begun = True
            self._loop.call_soon(self._end_turn)
        self._write(line)

    def write_all(self) -> None:
        """Write what is there."""
        if self._lines:
            lines, self._lines, self._size = self._lines, [], 0
            self._write(lines[0] if len(lines) == 1 else b"".join(lines))

    async def drain(self) -> None:
        """Wait while the peer doesn't take what was sent."""
        self.write_all()
        try:
            await self._writer.drain()
        except OSError as error:
            self._break(error)
        # However fast the peer is: a sender in a loop must let others run.
        await asyncio.sleep(0)

    async def close(self, deadline: float) -> None:
        """Write what is there and close, within `deadline` seconds."""
        self.write_all()
        try:
            async with asyncio.timeout(deadline):
                await self._writer.close()
        except (TimeoutError, OSError):
            self._writer.abort()
        except BaseException:
            self._writer.abort()
            raise

    def _write(self, data: bytes) -> None:
        try:
            if not self.broken:
                self._writer.write(data)
        except OSError as error:
            self._break(error)

    def _end_turn(self) -> None:
        self._turn_has_begun = False
        self.write_all()

    def _forget_read_responses(self) -> None:
        written = self._total - self.unwritten
        while self._answers and self._answers[0][0] <= written:
            self._answer_bytes -= self._answers.popleft()[1]

    def _break(self, error: OSError) -> None:
        if not self.broken:
            self.broken = True
            self._on_broken(error)
