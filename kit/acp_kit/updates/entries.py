"""Entries of a timeline: messages, tool calls and compactions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from acp_kit.updates.messages import Message
from acp_kit.updates.table import TABLE, tag_of
from acp_runtime.updates import Changes


def updates_of(entry: Any) -> Sequence[Any]:
    """Return the updates that make an entry."""
    return entry.updates if isinstance(entry, Message) else (entry,)


def key_of(entry: Any) -> tuple[str, str] | None:
    """Return what an entry is, or an update changes, such as `tool_call`, and its id; None for everything else."""
    effect = None if isinstance(entry, Message) else TABLE.get(tag_of(entry))
    return (effect.thing, getattr(entry, effect.id)) if isinstance(effect, Changes) else None
