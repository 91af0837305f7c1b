"""Two ends in one process, joined by bytes in memory: for tests, and for agents that live in the client's process."""

from __future__ import annotations

import asyncio


class MemoryPipe(asyncio.ReadTransport):
    """One direction: what is written comes out of `reader`.

    Attributes:
        reader: the end that reads.
    """

    def __init__(self, high_water: int = 64 * 1024) -> None:
        super().__init__()
        # asyncio pauses at twice this.
        self.reader = asyncio.StreamReader(limit=high_water // 2)
        self.reader.set_transport(self)
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._closed = False

    def pause_reading(self) -> None:
        """The reader has enough."""
        self._flowing.clear()

    def resume_reading(self) -> None:
        """The reader wants more."""
        self._flowing.set()

    @property
    def unwritten(self) -> int:
        """Bytes that the reader hasn't taken; they are all in its buffer."""
        return 0 if self._flowing.is_set() else 2**30

    def write(self, data: bytes, /) -> None:
        """Give the reader some bytes."""
        if self._closed:
            raise BrokenPipeError("The pipe is closed.")
        self.reader.feed_data(data)

    async def drain(self) -> None:
        """Wait until the reader wants more."""
        await self._flowing.wait()
        if self._closed:
            raise BrokenPipeError("The pipe is closed.")

    async def close(self) -> None:
        """Say that no more comes."""
        self.abort()

    def abort(self) -> None:
        """Say that no more comes, and wake up who waits in `drain`."""
        if not self._closed:
            self._closed = True
            self.reader.feed_eof()
        self._flowing.set()
