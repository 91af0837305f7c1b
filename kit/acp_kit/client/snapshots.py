"""What can be shown of a session at one moment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from acp_kit.client.growing import Frozen
from acp_kit.client.messages import Compaction, Message

if TYPE_CHECKING:
    from acp_bindings import v1

Entry: TypeAlias = "Message | v1.ToolCall | Compaction"
"""An entry of a timeline."""


class ToolCalls(Mapping[str, "v1.ToolCall"]):
    """The tool calls of a timeline by id, in the order in which they started. It is immutable.

    Args:
        timeline: the timeline.
        positions: where each tool call is in the timeline. May also have later ones.
    """

    __slots__ = ("_positions", "_timeline")

    def __init__(self, timeline: Frozen[Entry], positions: Mapping[str, int]) -> None:
        self._timeline = timeline
        self._positions = positions

    def __getitem__(self, tool_call_id: str) -> v1.ToolCall:
        position = self._positions[tool_call_id]
        if position >= len(self._timeline):
            raise KeyError(tool_call_id)
        return self._timeline[position]  # type: ignore[return-value]

    def __iter__(self) -> Iterator[str]:
        for entry in self._timeline:
            if not isinstance(entry, Message | Compaction):
                yield entry.tool_call_id

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return repr(dict(self))


@dataclass(frozen=True, eq=False, kw_only=True)
class Snapshot:
    """A session at one moment. It is immutable, and its entries are those of earlier snapshots if they didn't change.

    Attributes:
        timeline: messages, tool calls and compactions, in the order in which they started.
        tool_calls: the tool calls by id, with all updates merged.
        plan: the entries of the plan.
        available_modes: the modes that the session can be in.
        current_mode_id: the mode that the session is in; None if unknown.
        config_options: the options of the session with their current values.
        available_commands: the commands that the user can type.
        usage: how much of the context is used, and the cost; None if unknown.
        title: the title of the session.
        updated_at: when the session was last active, as the agent wrote it (ISO 8601).
        notices: the notices for the user, the oldest first. They are no part of the session's history.
    """

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

    @cached_property
    def messages(self) -> Sequence[Message]:
        """The messages of the timeline."""
        return tuple(entry for entry in self.timeline if isinstance(entry, Message))

    @cached_property
    def text(self) -> str:
        """All text of the agent's messages, without thoughts, as it was sent."""
        return "".join(message.text for message in self.messages if message.role == "agent")
