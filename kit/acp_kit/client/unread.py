"""The updates of a turn that nobody has read yet."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Any

from acp_kit.updates.adjacent_chunks import AdjacentChunks

if TYPE_CHECKING:
    from acp_bindings.v1 import SessionUpdate


class Unread:
    """An unbounded queue of updates, in which adjacent chunks of plain text are one chunk.

    So the updates of a slow reader take little more memory than their text.
    """

    def __init__(self) -> None:
        self._updates: deque[AdjacentChunks] = deque()
        self._changed = asyncio.Event()
        self._closed = False

    def put(self, update: Any) -> None:
        """Add an update."""
        if not (self._updates and self._updates[-1].add(update)):
            self._updates.append(AdjacentChunks(update))
            self._changed.set()

    def close(self) -> None:
        """Say that there will be no more updates."""
        self._closed = True
        self._changed.set()

    async def get(self) -> SessionUpdate | None:
        """Return the next update, or None after the last one."""
        while not self._updates:
            if self._closed:
                return None
            self._changed.clear()
            await self._changed.wait()
        update: SessionUpdate = self._updates.popleft().merge()
        return update
