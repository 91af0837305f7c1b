"""A transport as applications write them, and the other end of it, which reads and writes bytes."""

from __future__ import annotations

import asyncio
from collections import deque

from acp_runtime.transports.transport import TransportEnd

_CAPACITY = 64 * 1024


class ByteQueue:
    """Bytes on their way in one direction, as many as in a pipe. `b""` is their end."""

    def __init__(self) -> None:
        self._pieces: deque[bytes] = deque()
        self._changed = asyncio.Condition()

    async def put(self, piece: bytes) -> None:
        async with self._changed:
            await self._changed.wait_for(lambda: sum(map(len, self._pieces)) < _CAPACITY)
            self._pieces.append(piece)
            self._changed.notify_all()

    async def get(self) -> bytes:
        async with self._changed:
            await self._changed.wait_for(lambda: self._pieces)
            self._changed.notify_all()
            return self._pieces.popleft()


class QueueTransport:
    """Sends and receives through two queues.

    Attributes:
        closed: how often it was closed.
        has_closed: set when it is closed.
    """

    def __init__(self, incoming: ByteQueue, outgoing: ByteQueue) -> None:
        self._incoming = incoming
        self._outgoing = outgoing
        self.closed: int = 0
        self.has_closed = asyncio.Event()

    async def receive(self) -> bytes:
        return await self._incoming.get()

    async def send(self, data: bytes, /) -> None:
        for start in range(0, len(data), _CAPACITY):
            await self._outgoing.put(data[start : start + _CAPACITY])

    async def close(self) -> None:
        self.closed += 1
        self.has_closed.set()
        await self._outgoing.put(b"")


class PeerEnd(TransportEnd):
    """The other end. `close` ends only its sending: a raw peer goes on receiving until it is stopped."""

    async def stop(self) -> None:
        self.abort()
        await self._end_all()

    async def close(self) -> None:
        await self._until(0)
        if not isinstance(self.error, BrokenPipeError):  # neither closed nor aborted
            self._end(BrokenPipeError("This direction is closed."))
            await self._transport.close()

    async def _end_all(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.wait(self._tasks)


def queue_transports() -> tuple[QueueTransport, QueueTransport]:
    """Return two transports that are connected with each other."""
    there, back = ByteQueue(), ByteQueue()
    return QueueTransport(there, back), QueueTransport(back, there)
