"""Merges the replay of a session into the known entries of the session."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from typing import Any, get_args

from acp_kit.updates.entries import key_of
from acp_kit.updates.fields import given_fields
from acp_kit.updates.merging import has_ended
from acp_kit.updates.messages import Message
from acp_runtime.updates import Role


def merge_replay(known: Sequence[Any], replayed: Sequence[Any]) -> list[Any]:
    """Merge the entries of a replay into the known entries of the session.

    A replay may split messages otherwise, and may lack entries. If it has nothing new, the known entries stay, with how
    they ended. Otherwise, between the entries that both have, the side with more is kept.
    """
    if (completed := _complete_known(known, replayed)) is not None:
        return completed
    entries: list[Any] = []
    matcher = SequenceMatcher(None, _identities(known), _identities(replayed))
    for kind, known_start, known_end, replayed_start, replayed_end in matcher.get_opcodes():
        known_part = known[known_start:known_end]
        replayed_part = replayed[replayed_start:replayed_end]
        if kind == "equal":
            entries += map(_complete, known_part, replayed_part)
        else:
            entries += max(known_part, replayed_part, key=_amount)
    return entries


def _complete_known(known: Sequence[Any], replayed: Sequence[Any]) -> list[Any] | None:
    """Return the known entries with how they ended; None if the replay has a text or an entry that isn't known.

    Goes backwards, because an id may be used again.
    """
    for role in get_args(Role):
        said = "".join(message.text for message in known if isinstance(message, Message) and message.role == role)
        end = len(said)
        for entry in reversed(replayed):
            if isinstance(entry, Message) and entry.role == role and (end := said.rfind(entry.text, 0, end)) < 0:
                return None
    entries = [*known]
    index = len(known)
    for entry in reversed(replayed):
        if not isinstance(entry, Message):
            index = next((index for index in range(index - 1, -1, -1) if key_of(known[index]) == key_of(entry)), -1)
            if index < 0:
                return None
            entries[index] = _complete(known[index], entry)
    return entries


def _identities(entries: Sequence[Any]) -> list[object]:
    """Return what identifies each entry, in a history and in its replay."""
    return [(entry.role, entry.text) if isinstance(entry, Message) else key_of(entry) for entry in entries]


def _complete(known: Any, replayed: Any) -> Any:
    """Return a known entry. If it hasn't ended, it gets the status and the missing fields of the replayed one."""
    if isinstance(known, Message) or has_ended(known):
        return known
    known_values = {name: value for name, value in given_fields(known).items() if value not in (None, "", [])}
    return replayed.model_copy(update={**known_values, "status": replayed.status or known.status})


def _amount(entries: Iterable[Any]) -> tuple[int, int]:
    """Return how many tool calls and compactions there are, and how many characters of messages."""
    lengths = [len(entry.text) if isinstance(entry, Message) else None for entry in entries]
    return lengths.count(None), sum(filter(None, lengths))
