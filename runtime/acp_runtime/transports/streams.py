"""asyncio's streams as a transport."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

from acp_runtime.connection.transport import Receiver

_CHUNK = 256 * 1024


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
