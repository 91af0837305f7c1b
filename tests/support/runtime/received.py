"""Keeps what a source of bytes delivers."""

from __future__ import annotations

import asyncio


class Received:
    """Keeps what a source delivers.

    Attributes:
        data: the pieces of bytes.
        ends: what the source ended with, once it has ended.
    """

    def __init__(self) -> None:
        self.data: list[bytes] = []
        self.ends: list[OSError | None] = []
        self._has_ended = asyncio.Event()

    def received(self, data: bytes, /) -> None:
        self.data.append(data)

    def ended(self, error: OSError | None, /) -> None:
        self.ends.append(error)
        self._has_ended.set()

    async def end(self) -> OSError | None:
        """Wait until the source ends, at most 30 seconds. Return what it ends with."""
        async with asyncio.timeout(30):
            await self._has_ended.wait()
        return self.ends[0]
