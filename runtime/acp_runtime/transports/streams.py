"""A transport for the streams of asyncio."""

from __future__ import annotations

import asyncio


class StreamTransport:
    """Makes an `asyncio.StreamReader` and an `asyncio.StreamWriter` a `Transport`."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def receive(self) -> bytes:
        """Return what has arrived, or wait for it."""
        return await self._reader.read(256 * 1024)

    async def send(self, data: bytes, /) -> None:
        """Write bytes, and wait while asyncio has buffered too much."""
        self._writer.write(data)
        await self._writer.drain()

    async def close(self) -> None:
        """Write the buffered bytes, then close. If this is cancelled, they are dropped."""
        self._writer.close()
        try:
            await self._writer.wait_closed()
        except NotImplementedError:
            # asyncio's protocol for a write-only pipe has no `wait_closed`, but it can drain.
            self._writer.transport.set_write_buffer_limits(0)
            await self._writer.drain()
        finally:
            self._writer.transport.abort()
