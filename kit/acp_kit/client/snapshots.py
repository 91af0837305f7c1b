"""What can be shown of a session at one moment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from acp_kit.updates.messages import Message

if TYPE_CHECKING:
    from acp_bindings import v1

Entry: TypeAlias = "Message | v1.ToolCall | v1.CompactionUpdate"
"""An entry of a timeline."""

_EMPTY: Final[Mapping[str, Any]] = {
    **dict.fromkeys(("plan", "available_modes", "config_options", "available_commands"), ()),
    **dict.fromkeys(("current_mode_id", "usage", "title", "updated_at")),
}


class Shown:
    """What both a `Snapshot` and a `SessionState` have."""

    timeline: Sequence[Entry]
    tool_calls: Mapping[str, v1.ToolCall]
    plan: Sequence[v1.PlanEntry]
    available_modes: Sequence[v1.SessionMode]
    current_mode_id: str | None
    config_options: Sequence[v1.SessionConfigOption]
    available_commands: Sequence[v1.AvailableCommand]
    usage: v1.UsageUpdate | None
    title: str | None
    updated_at: str | None
    notices: Sequence[v1.Notice]

    @property
    def messages(self) -> Sequence[Message]:
        """The messages of the timeline."""
        return tuple(entry for entry in self.timeline if isinstance(entry, Message))

    @property
    def text(self) -> str:
        """All text of the agent's messages, without thoughts, as it was sent."""
        return "".join(message.text for message in self.messages if message.role == "agent")


class Snapshot(Shown):
    """A session at one moment. It is immutable, and its entries are those of earlier snapshots if they didn't change.

    Attributes:
        timeline: messages, tool calls and compactions, in the order in which they started.
        tool_calls: the tool calls by id, with all updates merged; the newest one with each id.
        plan: the entries of the plan.
        available_modes: the modes that the session can be in.
        current_mode_id: the mode that the session is in; None if unknown.
        config_options: the options of the session with their current values.
        available_commands: the commands that the user can type.
        usage: how much of the context is used, and the cost; None if unknown.
        title: the title of the session.
        updated_at: when the session was last active, as the agent wrote it (ISO 8601).
        notices: the notices for the user, the oldest first. They aren't part of the session's history.
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        vars(self).update({**_EMPTY, **values})

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{name!r} can't be set, because a snapshot is immutable.")

    def __repr__(self) -> str:
        return f"Snapshot({vars(self)})"
