"""Two ends in one process, joined by bytes in memory: for tests, and for agents that live in the client's process."""

from __future__ import annotations

import asyncio


class MemoryPipe:
    """One direction: what is written into it is read out of it, as with a pipe of the system.

    Args:
        capacity: who writes should wait while it holds more bytes than this.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._chunks: list[bytes] = []
        self._size = 0
        self._closed = False
        self._readable = asyncio.Event()
        self._roomy = asyncio.Event()
        self._roomy.set()

    @property
    def unwritten(self) -> int:
        """Bytes that nobody has read yet."""
        return self._size

    async def read(self, n: int = -1, /) -> bytes:
        """Everything that is there, however much; nothing at the end."""
        await self._readable.wait()
        data = b"".join(self._chunks)
        self._chunks, self._size = [], 0
        self._roomy.set()
        if not self._closed:
            self._readable.clear()
        return data

    def write(self, data: bytes, /) -> None:
        """Put bytes in."""
        if self._closed:
            raise BrokenPipeError("The pipe is closed.")
        self._chunks.append(data)
        self._size += len(data)
        self._readable.set()
        if self._size > self._capacity:
            self._roomy.clear()

    async def drain(self) -> None:
        """Wait until there is room."""
        await self._roomy.wait()
        if self._closed:
            raise BrokenPipeError("The pipe is closed.")

    async def close(self) -> None:
        """Say that no more comes. What is in it can still be read."""
        self.abort()

    def abort(self) -> None:
        """Say that no more comes, and wake up who waits in `drain`."""
        self._closed = True
        self._readable.set()
        self._roomy.set()
