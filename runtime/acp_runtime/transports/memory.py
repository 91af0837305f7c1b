"""A byte pipe in memory, for tests and for agents that run in the client's process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from acp_runtime.connection.interfaces import Receiver


class MemoryPipe:
    """One direction between two sides in the same process. Delivers written bytes to its receiver, like an OS pipe.

    Args:
        capacity: `drain` waits while more than this number of bytes is undelivered.

    Attributes:
        unwritten: the number of bytes that are not delivered yet.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._chunks: list[bytes] = []
        self.unwritten: int = 0
        self._closed = False
        self._has_room = asyncio.Event()
        self._has_room.set()
        self._loop = asyncio.get_running_loop()
        self._receiver: Receiver | None = None
        self._paused = False
        self._delivering = False

    def start(self, receiver: Receiver, /) -> None:
        """Start delivering to a receiver."""
        self._receiver = receiver
        self._deliver_soon()

    def pause(self) -> None:
        """Stop delivering for now, until the writer has closed."""
        self._paused = True

    def resume(self) -> None:
        """Continue delivering."""
        self._paused = False
        self._deliver_soon()

    async def stop(self) -> None:
        """Stop delivering permanently."""
        self._receiver = None

    def write(self, data: bytes, /) -> None:
        """Write bytes for the receiver."""
        if self._closed:
            raise BrokenPipeError("The pipe is closed.")
        self._chunks.append(data)
        self.unwritten += len(data)
        if self.unwritten > self._capacity:
            self._has_room.clear()
        self._deliver_soon()

    def on_failure(self, call: Callable[[OSError], None], /) -> None:
        """Do nothing: written bytes can't fail later."""

    async def drain(self) -> None:
        """Wait while more bytes than the capacity are undelivered. Raise OSError if the pipe is closed."""
        await self._has_room.wait()
        if self._closed:
            raise BrokenPipeError("The pipe is closed.")

    async def close(self) -> None:
        """Close for writing. Undelivered bytes are still delivered."""
        self.abort()

    def abort(self) -> None:
        """Close for writing, and wake up tasks that wait in `drain`. Undelivered bytes are still delivered."""
        self._closed = True
        self._has_room.set()
        self._deliver_soon()

    def _deliver_soon(self) -> None:
        if (self._closed or not self._paused) and not self._delivering and (self._chunks or self._closed):
            self._delivering = True
            self._loop.call_soon(self._deliver)

    def _deliver(self) -> None:
        self._delivering = False
        if self._receiver is None or (self._paused and not self._closed):
            return
        if self._chunks:
            chunks, self._chunks, self.unwritten = self._chunks, [], 0
            self._has_room.set()
            self._receiver.received(chunks[0] if len(chunks) == 1 else b"".join(chunks))
            self._deliver_soon()
        elif self._closed:
            receiver, self._receiver = self._receiver, None
            receiver.ended(None)
