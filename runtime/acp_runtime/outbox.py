"""Lines on their way out: written whole and in order.

The first line of a turn of the event loop is written at once, for a short way there and back; the others of that turn
follow together at its end, for throughput.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Protocol


class ByteReader(Protocol):
    """Where a connection reads. `asyncio.StreamReader` is one."""

    async def read(self, n: int = -1, /) -> bytes:
        """Some bytes, at most `n`; none at the end."""
        ...


class ByteWriter(Protocol):
    """Where a connection writes."""

    @property
    def unwritten(self) -> int:
        """How many bytes it holds back."""
        ...

    def write(self, data: bytes, /) -> None:
        """Write, or keep to write later. Never waits. Raises OSError if nothing can be written anymore."""
        ...

    async def drain(self) -> None:
        """Wait while it holds back too much. Raises OSError if nothing can be written anymore."""
        ...

    async def close(self) -> None:
        """Write what is held back, then close."""
        ...

    def abort(self) -> None:
        """Close, whatever is held back."""
        ...


class StreamOutput:
    """A `StreamWriter` of asyncio as a `ByteWriter`."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    @property
    def unwritten(self) -> int:
        """Bytes that the transport did not take yet."""
        return self._writer.transport.get_write_buffer_size()

    def write(self, data: bytes, /) -> None:
        """Hand over to the transport."""
        if self._writer.is_closing():
            raise BrokenPipeError("The stream is closed.")
        self._writer.write(data)

    async def drain(self) -> None:
        """Wait while the transport holds back too much."""
        await self._writer.drain()

    async def close(self) -> None:
        """Write the rest, then close."""
        self._writer.close()
        await self._writer.wait_closed()

    def abort(self) -> None:
        """Close at once."""
        self._writer.transport.abort()


class Outbox:
    """Everything one side sends.

    Args:
        writer: where it goes.
        high_water: a send waits while more bytes than this are unwritten.
        on_broken: called once if nothing can be written anymore.
    """

    def __init__(self, writer: ByteWriter, high_water: int, on_broken: Callable[[OSError], None]) -> None:
        self._writer = writer
        self._high_water = high_water
        self._on_broken = on_broken
        self._lines: list[bytes] = []
        self._size = 0
        self._broken: OSError | None = None
        self._loop = asyncio.get_running_loop()
        self._turn_has_begun = False
        # Where each unread answer ends, counted from the first byte that was ever sent, and its size.
        self._answers: deque[tuple[int, int]] = deque()
        self._answer_bytes = 0
        self._total = 0

    @property
    def unwritten(self) -> int:
        """How many bytes the peer hasn't taken yet."""
        return self._size + self._writer.unwritten

    @property
    def broken(self) -> bool:
        """Whether nothing can be written anymore."""
        return self._broken is not None

    @property
    def unread_answers(self) -> int:
        """How many bytes of answers the peer hasn't taken yet, one that it has begun with included."""
        self._forget_read_answers()
        return self._answer_bytes

    def answer(self, line: bytes) -> None:
        """Put in a line that the peer has asked for."""
        self.send(line)
        self._forget_read_answers()
        self._answers.append((self._total, len(line)))
        self._answer_bytes += len(line)

    def _forget_read_answers(self) -> None:
        written = self._total - self.unwritten
        while self._answers and self._answers[0][0] <= written:
            self._answer_bytes -= self._answers.popleft()[1]

    def send(self, line: bytes) -> None:
        """Write a line: at once if it is the first of this turn of the loop, at its end with the others if not."""
        self._total += len(line)
        self._lines.append(line)
        self._size += len(line)
        if not self._turn_has_begun:
            self._turn_has_begun = True
            self._loop.call_soon(self._end_turn)
            self.flush()

    def flush(self) -> None:
        """Write what is there."""
        lines, self._lines, self._size = self._lines, [], 0
        if not lines or self._broken is not None:
            return
        try:
            self._writer.write(lines[0] if len(lines) == 1 else b"".join(lines))
        except OSError as error:
            self._break(error)

    def _end_turn(self) -> None:
        self._turn_has_begun = False
        self.flush()

    def is_full(self) -> bool:
        """Whether a sender should wait in `drain`."""
        return self._size > self._high_water or self._writer.unwritten > self._high_water

    async def drain(self) -> None:
        """Wait while the peer doesn't take what was sent."""
        self.flush()
        try:
            await self._writer.drain()
        except OSError as error:
            self._break(error)
        # However fast the peer is: a sender in a loop must let others run.
        await asyncio.sleep(0)

    async def close(self, deadline: float) -> None:
        """Write what is there and close, within `deadline` seconds."""
        self.flush()
        try:
            async with asyncio.timeout(deadline):
                await self._writer.close()
        except (TimeoutError, OSError):
            self._writer.abort()
        except BaseException:
            self._writer.abort()
            raise

    def _break(self, error: OSError) -> None:
        if self._broken is None:
            self._broken = error
            self._on_broken(error)
