"""A session of version 2 at one moment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from acp_kit.common.texts import join_texts
from acp_kit.updates.merging import has_ended
from acp_runtime.updates import Role

if TYPE_CHECKING:
    from acp_bindings import v2_draft as v2


@dataclass(frozen=True, slots=True)
class Message:
    """A message. It is immutable.

    Attributes:
        role: `user`, `agent`, or `thought` for the agent's thoughts.
        message_id: its id.
        content: all its content. Adjacent chunks of text without annotations or `_meta` are one block.
        meta: its `_meta`, with all patches.
    """

    role: Role
    message_id: str
    content: Sequence[v2.ContentBlock] = ()
    meta: Mapping[str, Any] | None = None

    @property
    def text(self) -> str:
        """All its text. Images, resources and other content have none."""
        return join_texts(map(_text_of, self.content))


def _text_of(block: Any) -> str:
    return block.text if block.type == "text" else ""


@dataclass(frozen=True, slots=True)
class SessionTerminal:
    """A terminal of the agent. It is immutable. Attributes that the agent has not sent, or has cleared, are None.

    Attributes:
        terminal_id: its id.
        command: the command.
        cwd: the folder of the command.
        output: the output so far, as bytes.
        exit_status: how the command ended; None while it runs.
        size: its size.
        capabilities: what a client may do with it.
        meta: its `_meta`, with all patches.
    """

    terminal_id: str
    command: str | None = None
    cwd: str | None = None
    output: bytes = b""
    exit_status: v2.TerminalExitStatus | None = None
    size: v2.TerminalSize | None = None
    capabilities: v2.TerminalCapabilities | None = None
    meta: Mapping[str, Any] | None = None


Entry: TypeAlias = "Message | v2.ToolCallUpdate | v2.CompactionUpdate"
"""An entry of a timeline."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Snapshot:
    """A session at one moment. It is immutable. Entries that didn't change are the same objects as in earlier ones.

    Attributes:
        timeline: messages, tool calls and compactions, in the order in which they began.
        tool_calls: the tool calls by id, with all updates merged: an update with all fields.
        terminals: the terminals of the agent, by id.
        plans: the plans by id.
        state: the state that the agent has sent last; None if it has sent none.
        config_options: the options of the session with their current values.
        available_commands: the commands that the user can type.
        usage: how much of the context is used, and the cost; None if unknown.
        title: the title of the session; None if unknown.
        updated_at: when the session was last active, as the agent wrote it (RFC 3339); None if unknown.
        notices: the notices for the user, the oldest first. They aren't part of the session's history.
        others: entries of unstable updates, such as `subagent`, by kind and id.
        stopped_calls: the ids of the tool calls that the client has cancelled.
    """

    timeline: Sequence[Entry] = ()
    tool_calls: Mapping[str, v2.ToolCallUpdate] = field(default_factory=dict[str, Any])
    terminals: Mapping[str, SessionTerminal] = field(default_factory=dict[str, Any])
    plans: Mapping[str, v2.PlanUpdateContent] = field(default_factory=dict[str, Any])
    state: v2.SessionUpdateStateUpdate | None = None
    config_options: Sequence[v2.SessionConfigOption] = ()
    available_commands: Sequence[v2.AvailableCommand] = ()
    usage: v2.UsageUpdate | None = None
    title: str | None = None
    updated_at: str | None = None
    notices: Sequence[v2.Notice] = ()
    others: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Any])
    stopped_calls: AbstractSet[str] = frozenset()

    @property
    def messages(self) -> Sequence[Message]:
        """The messages of the timeline."""
        return tuple(entry for entry in self.timeline if isinstance(entry, Message))

    @property
    def text(self) -> str:
        """All text of the agent's messages, without thoughts, as it was sent."""
        return join_texts(message.text for message in self.messages if message.role == "agent")

    @property
    def is_idle(self) -> bool:
        """Whether no turn runs: the state is `idle`, as it is before the agent has sent one."""
        return self.state is None or self.state.state == "idle"

    def status_of(self, call: v2.ToolCallUpdate) -> str:
        """Return what to show as the status of a tool call of this snapshot.

        It is the agent's status, or `cancelled` if the tool call had not ended when the client cancelled.
        """
        if call.tool_call_id in self.stopped_calls and not has_ended(call):
            return "cancelled"
        return call.status or "pending"
