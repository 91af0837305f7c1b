"""What a connection reads from and writes to, and asyncio's streams as both.

Bytes are pushed: who has some calls the receiver in the very turn of the event loop that read them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

_CHUNK = 256 * 1024


class Receiver(Protocol):
    """Where the bytes of a source go."""

    def received(self, data: bytes, /) -> None:
        """Some bytes have come."""
        ...

    def ended(self, error: OSError | None, /) -> None:
        """No more will come: the peer has closed its side, or reading failed."""
        ...


class ByteSource(Protocol):
    """Where a connection reads."""

    def start(self, receiver: Receiver, /) -> None:
        """Begin to read. Called once; the receiver is called in later turns of the event loop."""
        ...

    def pause(self) -> None:
        """Leave what comes where it is. What was read already may still be handed on."""
        ...

    def resume(self) -> None:
        """Read on."""
        ...

    async def stop(self) -> None:
        """Read no more, for good. What is read from is left open."""
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

    def on_failure(self, call: Callable[[OSError], None], /) -> None:
        """What to call if writing fails later than in `write`, while nobody waits in `drain` and nothing is read."""
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


class StreamSource:
    """A `StreamReader` of asyncio as a `ByteSource`."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader
        self._wanted = asyncio.Event()
        self._wanted.set()
        self._task: asyncio.Task[None] | None = None

    def start(self, receiver: Receiver, /) -> None:
        """Begin to read, in a task."""
        self._task = asyncio.create_task(self._read(receiver), name="acp-read")

    def pause(self) -> None:
        """Leave what comes in the stream."""
        self._wanted.clear()

    def resume(self) -> None:
        """Read on."""
        self._wanted.set()

    async def stop(self) -> None:
        """End the task."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    async def _read(self, receiver: Receiver) -> None:
        try:
            while await self._wanted.wait() and (data := await self._reader.read(_CHUNK)):
                receiver.received(data)
        except OSError as error:
            receiver.ended(error)
        else:
            receiver.ended(None)


class StreamOutput:
    """A `StreamWriter` of asyncio as a `ByteWriter`."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self._has_dropped = False

    @property
    def unwritten(self) -> int:
        """Bytes that the transport did not take yet."""
        return self._writer.transport.get_write_buffer_size()

    def write(self, data: bytes, /) -> None:
        """Hand over to the transport."""
        if self._writer.is_closing():
            raise BrokenPipeError("The stream is closed.")
        self._writer.write(data)

    def on_failure(self, call: Callable[[OSError], None], /) -> None:
        """Nothing: the reader of the same transport is told."""

    async def drain(self) -> None:
        """Wait while the transport holds back too much. Raises OSError if that was dropped."""
        await self._writer.drain()
        if self._has_dropped:
            raise BrokenPipeError("The stream is closed.")

    async def close(self) -> None:
        """Write the rest, then close."""
        self._writer.close()
        try:
            await self._writer.wait_closed()
        except NotImplementedError:
            # The protocol that asyncio has for a pipe to write to only knows when there is room.
            self._writer.transport.set_write_buffer_limits(0)
            await self._writer.drain()

    def abort(self) -> None:
        """Close at once."""
        # A transport that is aborted wakes up who waits for it as if all had been written.
        self._has_dropped = self._has_dropped or self.unwritten > 0
        # A pipe of asyncio that has broken has no loop anymore, and can't be aborted again.
        with suppress(AttributeError):
            self._writer.transport.abort()
