"""Reads little at a time, so that other tasks have their turn during thousands of small frames or chunks."""

from __future__ import annotations

import asyncio

_SIZE = 8192  # bytes


class ReadsLittle(asyncio.BufferedProtocol):
    """A base for protocols with `data_received`."""

    def get_buffer(self, sizehint: int) -> memoryview:
        """Return where to put what is received. With TLS, asyncio writes into slices of it: they must not be copies."""
        self._buffer = memoryview(bytearray(_SIZE))
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Handle what is received."""
        data = bytes(self._buffer[:nbytes])
        del self._buffer
        self.data_received(data)  # type: ignore[attr-defined]
