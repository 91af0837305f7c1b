"""Merges adjacent chunks of plain text of one message. They are the same in version 1 and in version 2."""

from __future__ import annotations

from typing import Any

from acp_kit.common.texts import join_texts
from acp_kit.updates.merging import plain_text, with_text
from acp_kit.updates.table import TABLE
from acp_runtime.updates import Says


class AdjacentChunks:
    """An update. If it is a chunk of plain text, the next chunks of its message can be added."""

    __slots__ = ("_texts", "_update")

    def __init__(self, update: Any) -> None:
        self._update = update
        text = _text_of(update)
        self._texts = [] if text is None else [text]

    def add(self, update: Any) -> bool:
        """Add the next update if it is such a chunk. Return whether it is."""
        text = _text_of(update) if self._texts else None
        if text is None or _message_of(update) != _message_of(self._update):
            return False
        self._texts.append(text)
        return True

    def merge(self) -> Any:
        """Return one update with the text of all chunks."""
        if len(self._texts) > 1:
            self._texts = [join_texts(self._texts)]
            self._update = with_text(self._update, self._texts[0])
        return self._update


def _text_of(update: Any) -> str | None:
    """Return the text of a chunk of plain text; None for any other update."""
    return plain_text(update) if isinstance(TABLE.get(update.session_update), Says) else None


def _message_of(chunk: Any) -> tuple[str, str | None]:
    return chunk.session_update, chunk.message_id
