"""Merges the updates of a session into what can be shown of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol, cast

from acp_kit.client.growing import Growing
from acp_kit.client.messages import Compaction, Message, Pieces, Role
from acp_kit.client.snapshots import Entry, Snapshot, ToolCalls
from acp_kit.updates import given_fields, patched, started

if TYPE_CHECKING:
    from acp_bindings import v1

_ROLES: Final[Mapping[str, Role]] = {
    "user_message_chunk": "user",
    "agent_message_chunk": "agent",
    "agent_thought_chunk": "thought",
}


class Update(Protocol):
    """An update of any profile. What it means is decided by its tag."""

    @property
    def session_update(self) -> str:
        """The tag."""
        ...


class SessionState:
    """A session as its updates describe it. Feed it with `apply`; read it here, or take a `snapshot`.

    For example:

        async def session_update(self, notification: SessionNotification) -> None:
            self.states[notification.session_id].apply(notification.update)

    Applying an update takes time proportional to the size of the update, however long the session is. All attributes
    that a `Snapshot` has can also be read here.

    Attributes:
        unknown: how many updates had a tag that isn't known here. They change nothing else.
    """

    def __init__(self) -> None:
        self.unknown: int = 0
        self._timeline: Growing[Entry] = Growing()
        self._notices: Growing[v1.Notice] = Growing()
        self._tool_calls: dict[str, int] = {}  # positions in the timeline
        self._compactions: dict[str, int] = {}
        self._settings: dict[str, Any] = dict.fromkeys(("current_mode_id", "usage", "title", "updated_at"))
        self._settings |= dict.fromkeys(("plan", "available_modes", "config_options", "available_commands"), ())
        # The message at the end of the timeline, while chunks can be added to it.
        self._message_key: tuple[str, str | None] | None = None
        self._pieces = Pieces()
        self._snapshot: Snapshot | None = None

    def apply(self, update: Update) -> None:
        """Merge an update into the state.

        To show the user's prompts, apply a `user_message_chunk` for each of their blocks. Few agents send them.
        """
        change = self._CHANGES.get(update.session_update)
        if change is None:
            self.unknown += 1
        else:
            change(self, update)
            self._snapshot = None

    def count_unknown(self, tag: str) -> None:
        """Count an update for which there is no class, if its tag isn't known here."""
        if tag not in self._CHANGES:
            self.unknown += 1

    def opened(self, response: v1.NewSessionResponse | v1.LoadSessionResponse | v1.ResumeSessionResponse) -> None:
        """Take the modes and the options from the response that created, loaded or resumed the session."""
        if response.modes is not None:
            self._set("available_modes", tuple(response.modes.available_modes))
            self._set("current_mode_id", response.modes.current_mode_id)
        if response.config_options is not None:
            self._set("config_options", tuple(response.config_options))
        self._snapshot = None

    def update_tool_call(self, update: v1.ToolCallUpdate) -> None:
        """Merge an update of a tool call, such as the one in a permission request.

        An unknown id adds a tool call with what the update says. Some agents first name a tool call in its permission
        request, and a client that joined late may have missed the start; both can be shown.
        """
        position = self._tool_calls.get(update.tool_call_id)
        if position is None:
            self._add_tool_call(started(update))
        else:
            self._timeline.replace(position, patched(cast("v1.ToolCall", self._timeline[position]), update))
        self._snapshot = None

    def end_message(self) -> None:
        """Let the next chunk start a new message, though it may have the role and the id of the last one.

        Call it at the end of a turn: without it, the messages of two turns are one if the agent gives them no ids and
        nothing comes between them.
        """
        self._refresh_message()
        self._message_key = None

    def snapshot(self) -> Snapshot:
        """Return what can be shown now. It is immutable, and the same object until the next change."""
        if self._snapshot is None:
            self._refresh_message()
            timeline = self._timeline.freeze()
            self._snapshot = Snapshot(
                timeline=timeline,
                tool_calls=ToolCalls(timeline, self._tool_calls),
                notices=self._notices.freeze(),
                **self._settings,
            )
        return self._snapshot

    @property
    def timeline(self) -> Sequence[Entry]:
        """Messages, tool calls and compactions, in the order in which they started."""
        return self.snapshot().timeline

    @property
    def messages(self) -> Sequence[Message]:
        """The messages of the timeline."""
        return self.snapshot().messages

    @property
    def text(self) -> str:
        """All text of the agent's messages, without thoughts, as it was sent."""
        return self.snapshot().text

    @property
    def tool_calls(self) -> Mapping[str, v1.ToolCall]:
        """The tool calls by id, with all updates merged."""
        return self.snapshot().tool_calls

    @property
    def plan(self) -> Sequence[v1.PlanEntry]:
        """The entries of the plan."""
        return self.snapshot().plan

    @property
    def available_modes(self) -> Sequence[v1.SessionMode]:
        """The modes that the session can be in."""
        return self.snapshot().available_modes

    @property
    def current_mode_id(self) -> str | None:
        """The mode that the session is in; None if unknown."""
        return self.snapshot().current_mode_id

    @property
    def config_options(self) -> Sequence[v1.SessionConfigOption]:
        """The options of the session with their current values."""
        return self.snapshot().config_options

    @property
    def available_commands(self) -> Sequence[v1.AvailableCommand]:
        """The commands that the user can type."""
        return self.snapshot().available_commands

    @property
    def usage(self) -> v1.UsageUpdate | None:
        """How much of the context is used, and the cost; None if unknown."""
        return self.snapshot().usage

    @property
    def title(self) -> str | None:
        """The title of the session."""
        return self.snapshot().title

    @property
    def updated_at(self) -> str | None:
        """When the session was last active, as the agent wrote it (ISO 8601)."""
        return self.snapshot().updated_at

    @property
    def notices(self) -> Sequence[v1.Notice]:
        """The notices for the user, the oldest first."""
        return self.snapshot().notices

    def _chunk(self, chunk: Any) -> None:
        key = (chunk.session_update, chunk.message_id)
        if key != self._message_key:
            self._append(Message(_ROLES[key[0]], key[1], pieces := Pieces(), 0))
            self._message_key, self._pieces = key, pieces
        self._pieces.add(chunk)

    def _refresh_message(self) -> None:
        """Let the last message of the timeline have the chunks that were added since."""
        if self._message_key is not None:
            last = len(self._timeline) - 1
            shown = cast("Message", self._timeline[last])
            if (message := shown.latest()) is not shown:
                self._timeline.replace(last, message)

    def _append(self, entry: Entry) -> None:
        self.end_message()
        self._timeline.append(entry)

    def _tool_call(self, call: Any) -> None:
        """Add a tool call. A known one keeps its position: some agents send the whole tool call again."""
        position = self._tool_calls.get(call.tool_call_id)
        if position is None:
            self._add_tool_call(call)
        else:
            self._timeline.replace(position, call)

    def _add_tool_call(self, call: v1.ToolCall) -> None:
        self._append(call)
        self._tool_calls[call.tool_call_id] = len(self._timeline) - 1

    def _compaction(self, update: Any) -> None:
        self._change_compaction(update.compaction_id, lambda old: old.patched(update))

    def _compaction_chunk(self, chunk: Any) -> None:
        self._change_compaction(chunk.compaction_id, lambda old: old.with_chunk(chunk))

    def _change_compaction(self, compaction_id: str, change: Callable[[Compaction], Compaction]) -> None:
        position = self._compactions.get(compaction_id)
        if position is None:
            self._append(change(Compaction(compaction_id)))
            self._compactions[compaction_id] = len(self._timeline) - 1
        else:
            self._timeline.replace(position, change(cast("Compaction", self._timeline[position])))

    def _info(self, update: Any) -> None:
        given = given_fields(update)
        self._settings |= {name: given[name] for name in ("title", "updated_at") if name in given}

    def _set(self, name: str, value: Any) -> None:
        self._settings[name] = value

    _CHANGES: ClassVar[Mapping[str, Callable[[Any, Any], None]]] = {
        **dict.fromkeys(_ROLES, _chunk),
        "tool_call": _tool_call,
        "tool_call_update": update_tool_call,
        "compaction_update": _compaction,
        "compaction_summary_chunk": _compaction_chunk,
        "plan": lambda self, update: self._set("plan", tuple(update.entries)),
        "current_mode_update": lambda self, update: self._set("current_mode_id", update.current_mode_id),
        "config_option_update": lambda self, update: self._set("config_options", tuple(update.config_options)),
        "available_commands_update": lambda self, update: self._set(
            "available_commands", tuple(update.available_commands)
        ),
        "usage_update": lambda self, update: self._set("usage", update),
        "session_info_update": _info,
        "notice": lambda self, update: self._notices.append(update),
    }
