"""Merges an update of version 1 into the entry that it changes."""

from __future__ import annotations

from typing import Any, Final

from pydantic import BaseModel

from acp_kit.common.profiles import like
from acp_kit.updates.fields import given_values
from acp_kit.updates.table import KEPT_AS, TABLE
from acp_kit.updates.things import Pieces, is_plain_text
from acp_runtime import Model
from acp_runtime.updates import Changes, Says

_FINAL_STATUSES: Final = ("completed", "failed", "cancelled")
_IDENTIFYING_FIELDS: Final = frozenset(("session_update", *(effect.id for effect in KEPT_AS.values())))

# A chunk is plain if it and its block of content have no other fields.
_PLAIN_CHUNK_FIELDS: Final = {
    "session_update",
    *(
        name
        for effect in TABLE.values()
        if isinstance(effect, Says) and effect.appends
        for name in (effect.id, effect.appends)
    ),
}


def has_ended(entry: Any) -> bool:
    """Whether a tool call or a compaction has ended."""
    return entry.status in _FINAL_STATUSES


def change_entry(effect: Changes, entry: Any, update: Any, *, is_over: bool) -> tuple[Any, bool]:
    """Return an entry after an update, and whether it is a new one.

    Args:
        effect: the effect of the update. If it appends, there is no entry.
        entry: the newest entry with the id of the update; None if there is none.
        update: the update.
        is_over: whether the turn of the entry is over.
    """
    is_new = entry is None or (effect.starts and (is_over or has_ended(entry)))
    if is_new:
        from acp_bindings import v1

        kept_as = KEPT_AS[effect.thing]
        cls: Any = like(update, getattr(v1, kept_as.model))
        if isinstance(update, cls):
            return update, True
        entry = cls(**kept_as.new, **{kept_as.id: getattr(update, effect.id)})
    if effect.appends:
        values = {effect.to: [getattr(update, effect.appends)]}
    else:
        values = _changed_values(update, null_clears=effect.null == "clears")
    return _copy(entry, values), is_new


def pieces_of(effect: Changes, entry: Any) -> Pieces:
    """Return what an update can append to in an entry."""
    pieces = Pieces()
    *blocks, last = getattr(entry, effect.to) or (None,)
    pieces.replace(blocks)
    if last is not None:
        pieces.add(last)
    return pieces


def with_pieces(effect: Changes, entry: Any, pieces: Pieces) -> Any:
    """Return an entry with what was appended to it."""
    return _copy(entry, {effect.to: [*pieces.value()]})


def plain_text(chunk: Any) -> str | None:
    """Return the text of a chunk, or None if the chunk has anything else, such as an image, annotations or `_meta`.

    Chunks of plain text can be merged without losing anything.
    """
    content = chunk.content
    is_plain = is_plain_text(content) and chunk.__pydantic_fields_set__ <= _PLAIN_CHUNK_FIELDS
    return content.text if is_plain else None


def with_text(chunk: Any, text: str) -> Any:
    """Return a chunk of plain text with another text."""
    if text == chunk.content.text:
        return chunk
    return chunk.model_copy(update={"content": chunk.content.model_copy(update={"text": text})})


def _changed_values(update: Model, *, null_clears: bool) -> dict[str, Any]:
    values = {
        name: value
        for name, value in given_values(update, without=_IDENTIFYING_FIELDS).items()
        if null_clears or value is not None
    }
    # The first update of a tool call must have a title, so an empty one says nothing.
    if values.get("title") == "":
        del values["title"]
    return values


def _copy(entry: Any, values: dict[str, Any]) -> Any:
    # Pydantic's own copy: the values are valid already, and keys unknown to the schema are added.
    return BaseModel.model_copy(entry, update=values) if values else entry
