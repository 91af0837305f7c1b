"""Messages, which consist of chunks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any

from acp_kit.common.texts import join_texts
from acp_kit.updates.merging import plain_text, with_text
from acp_runtime.updates import Role

if TYPE_CHECKING:
    from acp_bindings.v1 import ContentBlock


class Chunks:
    """The chunks of one message.

    Texts are joined when they are read. The result for the largest number of chunks is kept.
    """

    def __init__(self, chunks: Iterable[Any] = ()) -> None:
        # Of a plain chunk, only the text.
        self._chunks: list[Any] = []
        self._first_plain_chunk: Any = None
        self._joined = (0, "")
        self._merged: tuple[int, tuple[Any, ...]] = (0, ())
        for chunk in chunks:
            self.add(chunk)

    def __len__(self) -> int:
        return len(self._chunks)

    def add(self, chunk: Any) -> None:
        """Add a chunk."""
        text = plain_text(chunk)
        if self._first_plain_chunk is None and text is not None:
            self._first_plain_chunk = chunk
        self._chunks.append(chunk if text is None else text)

    def text(self, count: int) -> str:
        """Return the text of the first `count` chunks."""
        joined_count, joined = self._joined
        if count == joined_count:
            return joined
        if count < joined_count:
            return join_texts(map(_text_of, islice(self._chunks, count)))
        added = map(_text_of, islice(self._chunks, joined_count, count))
        joined = joined[:-1] + join_texts((joined[-1:], *added))
        self._joined = (count, joined)
        return joined

    def merged(self, count: int) -> tuple[Any, ...]:
        """Return the first `count` chunks. Adjacent plain ones are one chunk."""
        if count != self._merged[0]:
            self._merged = (count, tuple(self._merge(count)))
        return self._merged[1]

    def _merge(self, count: int) -> Iterator[Any]:
        for is_text, chunks in groupby(islice(self._chunks, count), lambda chunk: chunk.__class__ is str):
            if is_text:
                yield with_text(self._first_plain_chunk, join_texts(chunks))
            else:
                yield from chunks


def _text_of(chunk: Any) -> str:
    if isinstance(chunk, str):
        return chunk
    return chunk.content.text if chunk.content.type == "text" else ""


@dataclass(frozen=True, slots=True, eq=False)
class Message:
    """A message: adjacent chunks with the same role and the same message id. It is immutable.

    Attributes:
        role: `user`, `agent`, or `thought` for the agent's thoughts.
        message_id: its id, if the agent gave it one.
    """

    role: Role
    message_id: str | None
    _chunks: Chunks = field(repr=False)
    _count: int = field(repr=False)

    def __repr__(self) -> str:
        text = self.text
        return f"Message({self.role!r}, {text if len(text) <= 60 else text[:60] + '...'!r})"

    @property
    def text(self) -> str:
        """All its text. Images, resources and other content have none."""
        return self._chunks.text(self._count)

    @property
    def content(self) -> Sequence[ContentBlock]:
        """All its content. Adjacent text without annotations or `_meta` is one block."""
        return tuple(chunk.content for chunk in self.updates)

    @property
    def updates(self) -> Sequence[Any]:
        """The chunks, as few as possible."""
        return self._chunks.merged(self._count)

    def latest(self) -> Message:
        """Return the message with the chunks that were added since, or itself if there are none."""
        count = len(self._chunks)
        return self if count == self._count else Message(self.role, self.message_id, self._chunks, count)
