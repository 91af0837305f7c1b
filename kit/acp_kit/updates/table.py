"""What each kind of update does. A new kind is entered here, and only here.

The tags are those of `acp_bindings.v1` and of `v1_unstable`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

Role: TypeAlias = Literal["user", "agent", "thought"]


@dataclass(frozen=True, slots=True)
class AddsChunk:
    """Adds a chunk to the last message if that has the same role and id; otherwise begins a message."""

    role: Role


@dataclass(frozen=True, slots=True)
class ChangesEntry:
    """Changes the newest entry with its id, or adds one.

    Attributes:
        id_field: the field with the id.
        starts: whether it adds a new entry if the old one has ended, or its turn is over.
        null_clears: whether null clears a field, instead of leaving it unchanged.
        appends_to: the field of the entry to which its content is appended; None to replace the given fields.
    """

    id_field: Literal["tool_call_id", "compaction_id"]
    starts: bool = False
    null_clears: bool = False
    appends_to: str | None = None


@dataclass(frozen=True, slots=True)
class SetsValues:
    """Replaces values of the session's state.

    Attributes:
        fields: the field of the update that each value is in, by the value's name. For "", the value is the update.
        is_partial: whether an absent field leaves its value unchanged.
    """

    fields: Mapping[str, str]
    is_partial: bool = False


@dataclass(frozen=True, slots=True)
class AddsNotice:
    """Adds a notice for the user. It is shown live, never recorded."""


Effect: TypeAlias = AddsChunk | ChangesEntry | SetsValues | AddsNotice

PERMISSION: Final = "session/request_permission"
"""Stands for the tag of the tool call in a permission request, which has none."""

TABLE: Final[Mapping[str, Effect]] = {
    "user_message_chunk": AddsChunk("user"),
    "agent_message_chunk": AddsChunk("agent"),
    "agent_thought_chunk": AddsChunk("thought"),
    "tool_call": ChangesEntry("tool_call_id", starts=True),
    PERMISSION: ChangesEntry("tool_call_id", starts=True),
    "tool_call_update": ChangesEntry("tool_call_id"),
    "compaction_update": ChangesEntry("compaction_id", null_clears=True),
    "compaction_summary_chunk": ChangesEntry("compaction_id", appends_to="summary"),
    "plan": SetsValues({"plan": "entries"}),
    "current_mode_update": SetsValues({"current_mode_id": "current_mode_id"}),
    "config_option_update": SetsValues({"config_options": "config_options"}),
    "available_commands_update": SetsValues({"available_commands": "available_commands"}),
    "usage_update": SetsValues({"usage": ""}),
    "session_info_update": SetsValues({"title": "title", "updated_at": "updated_at"}, is_partial=True),
    "notice": AddsNotice(),
}
"""What each kind of update does, by its tag."""


def tag_of(update: object) -> str:
    """Return the tag of an update, or `PERMISSION` for the tool call in a permission request."""
    return getattr(update, "session_update", PERMISSION)
