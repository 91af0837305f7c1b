"""A transport for the streams of asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

from acp_runtime.connection.transport import Receiver

_CHUNK = 256 * 1024


class StreamSource:
    """Makes an `asyncio.StreamReader` a `ByteSource`."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader
        self._resumed = asyncio.Event()
        self._resumed.set()
        self._task: asyncio.Task[None] | None = None

    def start(self, receiver: Receiver, /) -> None:
        """Start reading in a task."""
        self._task = asyncio.create_task(self._read(receiver), name="acp-read")

    def pause(self) -> None:
        """Stop reading for now."""
        self._resumed.clear()

    def resume(self) -> None:
        """Continue reading."""
        self._resumed.set()

    async def stop(self) -> None:
        """Cancel the task, and wait for its end."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    async def _read(self, receiver: Receiver) -> None:
        try:
            while await self._resumed.wait() and (data := await self._reader.read(_CHUNK)):
                receiver.received(data)
        except OSError as error:
            receiver.ended(error)
        else:
            receiver.ended(None)


class StreamOutput:
    """Makes an `asyncio.StreamWriter` a `ByteWriter`."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self._has_dropped = False

    @property
    def unwritten(self) -> int:
        """The number of bytes that the transport has buffered."""
        return self._writer.transport.get_write_buffer_size()

    def write(self, data: bytes, /) -> None:
        """Pass bytes to the transport. Raise OSError if it is closing."""
        if self._writer.is_closing():
            raise BrokenPipeError("The stream is closed.")
        self._writer.write(data)

    def on_failure(self, call: Callable[[OSError], None], /) -> None:
        """Do nothing: a failure ends the stream's reader."""

    async def drain(self) -> None:
        """Wait while the transport has buffered too much. Raise OSError if `abort` dropped buffered bytes."""
        await self._writer.drain()
        if self._has_dropped:
            raise BrokenPipeError("The stream is closed.")

    async def close(self) -> None:
        """Write the buffered bytes, then close."""
        self._writer.close()
        try:
            await self._writer.wait_closed()
        except NotImplementedError:
            # asyncio's protocol for a write-only pipe has no `wait_closed`, but it can drain.
            self._writer.transport.set_write_buffer_limits(0)
            await self._writer.drain()

    def abort(self) -> None:
        """Close without writing the buffered bytes."""
        # An aborted transport wakes up tasks in `drain` as if everything had been written.
        self._has_dropped = self._has_dropped or self.unwritten > 0
        # A broken pipe transport of asyncio has no loop anymore, and `abort` would raise.
        with suppress(AttributeError):
            self._writer.transport.abort()
