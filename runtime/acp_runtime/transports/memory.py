"""Two ends in one process, joined by bytes in memory: for tests, and for agents that live in the client's process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import copy_context

from acp_runtime.connection.transport import Receiver


class MemoryPipe:
    """One direction: what is written into it is handed to its receiver, as with a pipe of the system.

    Args:
        capacity: who writes should wait while it holds more bytes than this.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._chunks: list[bytes] = []
        self._size = 0
        self._closed = False
        self._roomy = asyncio.Event()
        self._roomy.set()
        self._loop = asyncio.get_running_loop()
        self._receiver: Receiver | None = None
        self._wanted = True
        self._delivering = False
        # Not that of whoever writes: what comes of it has nothing to do with them.
        self._context = copy_context()

    @property
    def unwritten(self) -> int:
        """Bytes that nobody has read yet."""
        return self._size

    def start(self, receiver: Receiver, /) -> None:
        """Say who receives."""
        self._receiver = receiver
        self._deliver_soon()

    def pause(self) -> None:
        """Keep what is written."""
        self._wanted = False

    def resume(self) -> None:
        """Hand on what is there, and what comes."""
        self._wanted = True
        self._deliver_soon()

    async def stop(self) -> None:
        """Hand on nothing more."""
        self._wanted = False

    def write(self, data: bytes, /) -> None:
        """Put bytes in."""
        if self._closed:
            raise BrokenPipeError("The pipe is closed.")
        self._chunks.append(data)
        self._size += len(data)
        if self._size > self._capacity:
            self._roomy.clear()
        self._deliver_soon()

    def on_failure(self, call: Callable[[OSError], None], /) -> None:
        """Nothing: writing never fails later."""

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
        self._roomy.set()
        self._deliver_soon()

    def _deliver_soon(self) -> None:
        if self._wanted and not self._delivering and (self._chunks or self._closed):
            self._delivering = True
            self._loop.call_soon(self._deliver, context=self._context)

    def _deliver(self) -> None:
        self._delivering = False
        if self._receiver is None or not self._wanted:
            return
        if self._chunks:
            chunks, self._chunks, self._size = self._chunks, [], 0
            self._roomy.set()
            self._receiver.received(chunks[0] if len(chunks) == 1 else b"".join(chunks))
            self._deliver_soon()
        elif self._closed:
            receiver, self._receiver = self._receiver, None
            receiver.ended(None)
