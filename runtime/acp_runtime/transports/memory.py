"""A byte pipe in memory, for tests and for agents that run in the client's process."""

from __future__ import annotations

from acp_runtime.connection.interfaces import Receiver
from acp_runtime.transports.files import CAPACITY, BufferedWriter


class MemoryPipe(BufferedWriter):
    """One direction between two sides in the same process. Delivers written bytes to its receiver, like an OS pipe."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        super().__init__(capacity)
        self._chunks: list[bytes] = []
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

    async def close(self) -> None:
        """Close for writing. Undelivered bytes are still delivered."""
        self.abort()

    def _put(self, data: bytes) -> None:
        self._chunks.append(data)
        self._deliver_soon()

    def _close(self) -> None:
        self._deliver_soon()

    def _deliver_soon(self) -> None:
        if not self._delivering and (self._chunks or self.error is not None):
            self._delivering = True
            self._loop.call_soon(self._deliver)

    def _deliver(self) -> None:
        self._delivering = False
        if self._receiver is None or (self._paused and self.error is None):
            return
        if self._chunks:
            chunks, self._chunks = self._chunks, []
            self._wrote(self.unwritten)
            self._receiver.received(chunks[0] if len(chunks) == 1 else b"".join(chunks))
            self._deliver_soon()
        elif self.error is not None:
            receiver, self._receiver = self._receiver, None
            receiver.ended(None)
