"""A session at one moment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from acp_kit.common.texts import join_texts
from acp_kit.updates.merging import has_ended
from acp_kit.updates.messages import Message

if TYPE_CHECKING:
    from acp_bindings import v1

Entry: TypeAlias = "Message | v1.ToolCall | v1.CompactionUpdate"
"""An entry of a timeline."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Snapshot:
    """A session at one moment. It is immutable. Entries that didn't change are the same objects as in earlier ones.

    Attributes:
        timeline: messages, tool calls and compactions, in the order in which they started.
        tool_calls: the tool calls by id, with all updates merged; the newest one with each id.
        running_calls: the running tool calls by id: of the current turn, not ended and not cancelled.
        plan: the entries of the plan.
        available_modes: the modes that the session can be in.
        current_mode_id: the mode that the session is in; None if unknown.
        config_options: the options of the session with their current values.
        available_commands: the commands that the user can type.
        usage: how much of the context is used, and the cost; None if unknown.
        title: the title of the session; None if unknown.
        updated_at: when the session was last active, as the agent wrote it (ISO 8601); None if unknown.
        notices: the notices for the user, the oldest first. They aren't part of the session's history.
    """

    timeline: Sequence[Entry] = ()
    tool_calls: Mapping[str, v1.ToolCall] = field(default_factory=dict[str, Any])
    running_calls: Mapping[str, v1.ToolCall] = field(default_factory=dict[str, Any])
    plan: Sequence[v1.PlanEntry] = ()
    available_modes: Sequence[v1.SessionMode] = ()
    current_mode_id: str | None = None
    config_options: Sequence[v1.SessionConfigOption] = ()
    available_commands: Sequence[v1.AvailableCommand] = ()
    usage: v1.UsageUpdate | None = None
    title: str | None = None
    updated_at: str | None = None
    notices: Sequence[v1.Notice] = ()

    @property
    def messages(self) -> Sequence[Message]:
        """The messages of the timeline."""
        return tuple(entry for entry in self.timeline if isinstance(entry, Message))

    @property
    def text(self) -> str:
        """All text of the agent's messages, without thoughts, as it was sent."""
        return join_texts(message.text for message in self.messages if message.role == "agent")

    def status_of(self, call: v1.ToolCall) -> v1.ToolCallStatus | Literal["cancelled"] | None:
        """Return what to show as the status of a tool call of this snapshot.

        It is the agent's status, or `cancelled` if the tool call has not ended, but its turn has, or was cancelled.
        """
        if has_ended(call) or self.running_calls.get(call.tool_call_id) is call:
            return call.status
        return "cancelled"
