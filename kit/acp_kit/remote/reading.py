"""Limits how much is received at a time, so that thousands of small frames or chunks don't delay other tasks."""

from __future__ import annotations

import asyncio

_BUFFER_BYTES = 8192


class SmallReads(asyncio.BufferedProtocol):
    """A base for protocols with `data_received`."""

    def get_buffer(self, sizehint: int) -> memoryview:
        """Return the buffer for the next bytes. With TLS, asyncio writes into slices, which must not be copies."""
        self._buffer = memoryview(bytearray(_BUFFER_BYTES))
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Handle the received bytes."""
        data = bytes(self._buffer[:nbytes])
        del self._buffer
        self.data_received(data)  # type: ignore[attr-defined]
