"""Merges the updates of a session into messages, tool calls, compactions and settings, in their order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

from acp_kit.updates.entries import key_of, updates_of
from acp_kit.updates.merging import change_entry, has_ended, pieces_of, with_pieces
from acp_kit.updates.messages import Chunks, Message
from acp_kit.updates.replays import merge_replay
from acp_kit.updates.table import PERMISSION, TABLE, tag_of
from acp_kit.updates.things import Pieces, merge_settings
from acp_runtime.updates import AddsTo, Changes, Role, Says, Sets

if TYPE_CHECKING:
    from acp_bindings.v1 import SessionUpdate, ToolCall, ToolCallUpdate


@runtime_checkable
class Tagged(Protocol):
    """An update of any profile. Its tag decides its effect."""

    @property
    def session_update(self) -> str:
        """The tag."""
        ...


Update: TypeAlias = "Tagged | ToolCallUpdate"
"""An update, or the tool call of a permission request."""


@dataclass(frozen=True, slots=True)
class OpenMessage:
    """The message that further chunks are added to.

    Attributes:
        key: the tag and the message id of these chunks.
        position: the position of the message.
        chunks: its chunks.
    """

    key: tuple[str, str | None]
    position: int
    chunks: Chunks


class Timeline:
    """The messages, tool calls, compactions and settings of a session.

    Attributes:
        entries: messages, tool calls (`SessionUpdateToolCall`) and compactions (`SessionUpdateCompactionUpdate`) by
            position, in the order in which they started. Until `refresh`, the open message and compactions may lack
            chunks.
        tool_calls: the newest tool call with each id.
        running_calls: the tool calls of the present turn that have neither ended nor been cancelled, by id.
        settings: the last update of each kind that sets values, by tag.
        notices: the notices for the user.
        next_position: where the next entry will be, after `refresh`. A message takes a position for each chunk.
        open_message: the message that further chunks are added to; None if the next chunk begins one.
        positions: where the newest entry of each kind with each id is.
        turn_start: where the present turn began: the position of its user message, or the one after the end of the
            last turn. Updates still change an entry before it, but a start with its id is a new entry.

    Args:
        keeps_unknown: whether updates of unknown kinds are entries, too. Otherwise, they are ignored.
        next_position: the first position.
    """

    def __init__(self, *, keeps_unknown: bool = False, next_position: int = 0) -> None:
        self.entries: dict[int, Any] = {}
        self.tool_calls: dict[str, ToolCall] = {}
        self.running_calls: dict[str, ToolCall] = {}
        self.settings: dict[str, Any] = {}
        self.notices: list[Any] = []
        self.next_position: int = next_position
        self.open_message: OpenMessage | None = None
        self.positions: dict[tuple[str, str], int] = {}
        self.turn_start: int = 0
        # Tool calls that only permission requests have named, and the position of the earlier entry with the same id.
        self._unreported: dict[tuple[str, str], int | None] = {}
        # What chunks append to, by the key of the entry, since the last other change of the entry.
        self._pieces: dict[tuple[str, str], Pieces] = {}
        # The effects of the chunks that entries lack, by the key of the entry.
        self._lacking: dict[tuple[str, str], Changes] = {}
        self._keeps_unknown = keeps_unknown

    def apply(self, update: Update) -> int | None:
        """Merge an update. Return the position of the entry that it adds or changes; None if it does neither."""
        tag = tag_of(update)
        effect = TABLE.get(tag)
        if isinstance(effect, Says):
            chunk: Any = update
            key = (tag, getattr(chunk, effect.id))
            message = self.open_message
            if message is None or message.key != key:
                message = self.begin_message(effect.role, key)
            message.chunks.add(chunk)
            return message.position
        if isinstance(effect, Changes):
            return self._change(effect, update, is_question=tag == PERMISSION)
        if isinstance(effect, Sets):
            self.settings[tag] = merge_settings(effect, self.settings.get(tag), update)
        elif isinstance(effect, AddsTo):
            self.notices.append(update)
        elif self._keeps_unknown:
            return self.add(update)
        return None

    def updates(self) -> Iterator[SessionUpdate]:
        """Yield as few updates as possible that make the same timeline.

        Entries that are added during the iteration are left out, but not changes of earlier entries.
        """
        self.refresh()
        for position in [*self.entries]:
            yield from updates_of(self.entries[position])
        yield from [*self.settings.values()]

    def begin_message(self, role: Role, key: tuple[str, str | None]) -> OpenMessage:
        """Begin a message.

        Args:
            role: its role.
            key: the tag and the message id of the chunks to add to it.
        """
        chunks = Chunks()
        position = self.add(Message(role, key[1], chunks, 0))
        self.open_message = OpenMessage(key, position, chunks)
        if role == "user":
            self.turn_start = position
        return self.open_message

    def end_message(self) -> None:
        """Let the next chunk begin a message, even if it has the role and the id of the last one."""
        self.refresh()
        self.open_message = None

    def end_turn(self) -> None:
        """End the turn, and its last message."""
        self.end_message()
        self.turn_start = self.next_position
        self.running_calls.clear()

    def refresh(self) -> None:
        """Let the open message and all other entries have all of their chunks."""
        for key, effect in self._lacking.items():
            position = self.positions[key]
            self.entries[position] = with_pieces(effect, self.entries[position], self._pieces[key])
        self._lacking.clear()
        if (message := self.open_message) is not None:
            self.entries[message.position] = self.entries[message.position].latest()
            self.next_position = max(self.next_position, message.position + len(message.chunks))

    def add(self, entry: Any, position: int | None = None) -> int:
        """Add an entry, as the newest one with its id, and return its position."""
        self.end_message()
        if position is None:
            position = self.next_position
            self.next_position += 1
        self._put(entry, position)
        return position

    def drop_unreported_calls(self) -> None:
        """Remove the tool calls that only permission requests have named: some agents use another id for these."""
        for key, earlier_position in self._unreported.items():
            del self.entries[self.positions.pop(key)], self.tool_calls[key[1]]
            if earlier_position is not None:
                self._put(self.entries[earlier_position], earlier_position)
        self._unreported.clear()

    def take_replay(self, replay: Timeline) -> None:
        """Add the missing entries and settings from a replay of this session."""
        self.end_message()
        replay.end_message()
        entries = merge_replay([*self.entries.values()], [*replay.entries.values()])
        self.entries.clear()
        self.tool_calls.clear()
        self.positions.clear()
        self._pieces.clear()
        self._unreported.clear()
        for entry in entries:
            self.add(entry)
        self.settings |= replay.settings
        self.notices += replay.notices
        self.end_turn()

    def _change(self, effect: Changes, update: Any, *, is_question: bool) -> int:
        key = (effect.thing, getattr(update, effect.id))
        position = self.positions.get(key)
        if effect.appends and position is not None:
            pieces = self._pieces.get(key)
            if pieces is None:
                pieces = self._pieces[key] = pieces_of(effect, self.entries[position])
            pieces.add(getattr(update, effect.appends))
            self._lacking[key] = effect
            return position
        if key in self._lacking:
            self.refresh()
        self._pieces.pop(key, None)
        known = None if position is None else self.entries[position]
        entry, is_new = change_entry(effect, known, update, is_over=position is not None and position < self.turn_start)
        if effect.thing == "tool_call":
            if has_ended(entry):
                self.running_calls.pop(key[1], None)
            elif is_new or key[1] in self.running_calls:
                self.running_calls[key[1]] = entry
        if not is_question:
            self._unreported.pop(key, None)
        elif is_new:
            self._unreported[key] = position
        if position is None or is_new:
            return self.add(entry)
        self._put(entry, position)
        return position

    def _put(self, entry: Any, position: int) -> None:
        self.entries[position] = entry
        if (key := key_of(entry)) is not None:
            self.positions[key] = position
            if key[0] == "tool_call":
                self.tool_calls[key[1]] = entry
