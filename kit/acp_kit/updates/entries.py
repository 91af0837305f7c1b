"""Entries of a timeline: messages, tool calls and compactions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from acp_kit.updates.messages import Message
from acp_kit.updates.table import TABLE, ChangesEntry, tag_of


def updates_of(entry: Any) -> Sequence[Any]:
    """Return the updates that an entry amounts to."""
    return entry.updates if isinstance(entry, Message) else (entry,)


def key_of(entry: Any) -> tuple[str, str] | None:
    """Return the field with the id of an entry or of an update, and the id; None if it has none."""
    effect = None if isinstance(entry, Message) else TABLE.get(tag_of(entry))
    return (effect.id_field, getattr(entry, effect.id_field)) if isinstance(effect, ChangesEntry) else None
