"""The updates of a turn that nobody has read yet."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Any

from acp_kit.common.texts import join_texts
from acp_kit.updates.merging import plain_text, with_text
from acp_kit.updates.table import TABLE
from acp_runtime.updates import Says

if TYPE_CHECKING:
    from acp_bindings.v1 import SessionUpdate


class Unread:
    """An unbounded queue of updates, in which adjacent chunks of plain text are one chunk.

    So the updates of a slow reader take little more memory than their text.
    """

    def __init__(self) -> None:
        # Each with the texts of the chunks that are merged into it, if it is plain text.
        self._updates: deque[tuple[Any, list[str]]] = deque()
        self._changed = asyncio.Event()
        self._closed = False

    def put(self, update: Any) -> None:
        """Add an update."""
        text = plain_text(update) if isinstance(TABLE.get(update.session_update), Says) else None
        if text is not None and self._updates:
            last, texts = self._updates[-1]
            if texts and (last.session_update, last.message_id) == (update.session_update, update.message_id):
                texts.append(text)
                return
        self._updates.append((update, [] if text is None else [text]))
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
        update, texts = self._updates.popleft()
        joined: SessionUpdate = with_text(update, join_texts(texts)) if len(texts) > 1 else update
        return joined
