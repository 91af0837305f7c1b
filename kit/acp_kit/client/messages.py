"""Messages of a session, and what else consists of chunks: summaries of compactions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from acp_kit.profiles import like
from acp_kit.updates import given_fields, plain_text

if TYPE_CHECKING:
    from acp_bindings.v1 import CompactionStatus, CompactionSummaryChunk, CompactionUpdate, ContentBlock

Role: TypeAlias = Literal["user", "agent", "thought"]


class Pieces:
    """Content that grows by one piece with each chunk: a text, or a block that is more than plain text.

    Texts are joined when they are read. The result for the largest number of pieces is kept.
    """

    def __init__(self, blocks: Sequence[Any] = ()) -> None:
        self._pieces: list[Any] = list(blocks)
        self._joined = (0, "")
        self._merged: tuple[int, tuple[Any, ...]] = (0, ())
        self._chunk: Any = None

    def __len__(self) -> int:
        return len(self._pieces)

    def add(self, chunk: Any) -> None:
        """Add the content of a chunk."""
        text = plain_text(chunk)
        self._pieces.append(chunk.content if text is None else text)
        self._chunk = chunk

    def text(self, count: int) -> str:
        """Return the text of the first pieces."""
        done, joined = self._joined
        if count == done:
            return joined
        if count < done:
            return "".join(map(_text_of, islice(self._pieces, count)))
        joined += "".join(map(_text_of, islice(self._pieces, done, count)))
        self._joined = (count, joined)
        return joined

    def blocks(self, count: int) -> tuple[Any, ...]:
        """Return the first pieces as blocks. Adjacent texts are one block."""
        if count != self._merged[0]:
            self._merged = (count, tuple(self._merge(count)))
        return self._merged[1]

    def _merge(self, count: int) -> Iterator[Any]:
        for is_text, pieces in groupby(islice(self._pieces, count), lambda piece: piece.__class__ is str):
            if is_text:
                yield self._text_block("".join(pieces))
            else:
                yield from pieces

    def _text_block(self, text: str) -> Any:
        from acp_bindings.v1 import ContentBlockText

        return like(self._chunk, ContentBlockText)(text=text)


def _text_of(piece: Any) -> str:
    if isinstance(piece, str):
        return piece
    return piece.text if piece.type == "text" else ""


@dataclass(frozen=True, slots=True, eq=False)
class Message:
    """A message: adjacent chunks with the same role and the same message id. It is immutable.

    Attributes:
        role: `user`, `agent`, or `thought` for what the agent thinks.
        message_id: its id, if the agent gave it one.
    """

    role: Role
    message_id: str | None
    _pieces: Pieces = field(repr=False)
    _count: int = field(repr=False)

    @property
    def text(self) -> str:
        """All its text. Images, resources and other content have none."""
        return self._pieces.text(self._count)

    @property
    def content(self) -> Sequence[ContentBlock]:
        """All its content. Adjacent text without annotations or `_meta` is one block."""
        return self._pieces.blocks(self._count)

    def latest(self) -> Message:
        """Return the message with the pieces that were added since, or itself if there are none."""
        count = len(self._pieces)
        return self if count == self._count else Message(self.role, self.message_id, self._pieces, count)


@dataclass(frozen=True, slots=True, eq=False)
class Compaction:
    """A compaction of the context by the agent. It is immutable.

    Attributes:
        compaction_id: its id.
        status: how far it is.
        error: why it failed.
        meta: the agent's `_meta`.
    """

    compaction_id: str
    status: CompactionStatus = "in_progress"
    error: str | None = None
    meta: dict[str, Any] | None = None
    _pieces: Pieces = field(default_factory=Pieces, repr=False)
    _count: int = field(default=0, repr=False)

    @property
    def summary(self) -> Sequence[ContentBlock]:
        """What it left of the context, for the user."""
        return self._pieces.blocks(self._count)

    def patched(self, update: CompactionUpdate) -> Compaction:
        """Return the compaction with the fields that an update has. An absent one is kept, a null one is cleared."""
        given = given_fields(update)
        pieces, count = self._pieces, self._count
        if "summary" in given:
            pieces = Pieces(update.summary or ())
            count = len(pieces)
        error, meta = given.get("error", self.error), given.get("meta", self.meta)
        return Compaction(self.compaction_id, update.status, error, meta, pieces, count)

    def with_chunk(self, chunk: CompactionSummaryChunk) -> Compaction:
        """Return the compaction with another chunk of its summary."""
        self._pieces.add(chunk)
        return replace(self, _count=len(self._pieces))
