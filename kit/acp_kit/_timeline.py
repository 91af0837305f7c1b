"""The one fold of a session's updates: into messages, tool calls, compactions and settings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, get_args, runtime_checkable

from acp_kit._updates import (
    PERMISSION,
    TABLE,
    Changes,
    Notifies,
    Role,
    Says,
    Sets,
    apply_change,
    given_fields,
    has_ended,
    latest,
    plain_text,
    tag_of,
    with_text,
)

if TYPE_CHECKING:
    from acp_bindings.v1 import ContentBlock, SessionUpdate, ToolCall, ToolCallUpdate


@runtime_checkable
class Tagged(Protocol):
    """An update of any profile. What it means is decided by its tag."""

    @property
    def session_update(self) -> str:
        """The tag."""
        ...


Update: TypeAlias = "Tagged | ToolCallUpdate"
"""An update, or the tool call of a permission request."""


class Pieces:
    """The chunks of a message: the text of a plain one, or the chunk itself if there is more to it.

    Texts are joined when they are read. The result for the largest number of pieces is kept.
    """

    def __init__(self, chunks: Iterable[Any] = ()) -> None:
        self._pieces: list[Any] = []
        self._joined = (0, "")
        self._merged: tuple[int, tuple[Any, ...]] = (0, ())
        self._plain: Any = None
        for chunk in chunks:
            self.add(chunk)

    def __len__(self) -> int:
        return len(self._pieces)

    def add(self, chunk: Any) -> None:
        """Add a chunk."""
        text = plain_text(chunk)
        if self._plain is None and text is not None:
            self._plain = chunk
        self._pieces.append(chunk if text is None else text)

    def text(self, count: int) -> str:
        """Return the text of the first pieces."""
        done, joined = self._joined
        if count == done:
            return joined
        if count < done:
            return "".join(map(_text_of, islice(self._pieces, count)))
        joined += "".join(map(_text_of, islice(self._pieces, done, count)))
        self._joined = (count, joined)
        return joined

    def chunks(self, count: int) -> tuple[Any, ...]:
        """Return the first pieces as chunks. Adjacent plain ones are one chunk."""
        if count != self._merged[0]:
            self._merged = (count, tuple(self._merge(count)))
        return self._merged[1]

    def _merge(self, count: int) -> Iterator[Any]:
        for is_text, pieces in groupby(islice(self._pieces, count), lambda piece: piece.__class__ is str):
            if is_text:
                yield with_text(self._plain, "".join(pieces))
            else:
                yield from pieces


def _text_of(piece: Any) -> str:
    if isinstance(piece, str):
        return piece
    return piece.content.text if piece.content.type == "text" else ""


@dataclass(frozen=True, slots=True, eq=False)
class Message:
    """A message: adjacent chunks with the same role and the same message id. It is immutable.

    Attributes:
        role: `user`, `agent`, or `thought` for what the agent thinks.
        message_id: its id, if the agent gave it one.
    """

    role: Role
    message_id: str | None
    _pieces: Pieces = field(repr=False)
    _count: int = field(repr=False)

    def __repr__(self) -> str:
        text = self.text
        return f"Message({self.role!r}, {text if len(text) <= 60 else text[:60] + '...'!r})"

    @property
    def text(self) -> str:
        """All its text. Images, resources and other content have none."""
        return self._pieces.text(self._count)

    @property
    def content(self) -> Sequence[ContentBlock]:
        """All its content. Adjacent text without annotations or `_meta` is one block."""
        return tuple(chunk.content for chunk in self.updates)

    @property
    def updates(self) -> Sequence[Any]:
        """The chunks, as few as possible."""
        return self._pieces.chunks(self._count)

    def latest(self) -> Message:
        """Return the message with the pieces that were added since, or itself if there are none."""
        count = len(self._pieces)
        return self if count == self._count else Message(self.role, self.message_id, self._pieces, count)


class Timeline:
    """What the updates of a session amount to.

    Attributes:
        entries: messages, tool calls (`SessionUpdateToolCall`) and compactions (`SessionUpdateCompactionUpdate`) in the
            order in which they started, by place. The last message may lack chunks until `refresh`.
        tool_calls: the newest tool call with each id.
        settings: the last update of each kind that sets values, by tag.
        notices: what is only for who watches.
        unknown: how many updates of unknown kinds there were, if they are no entries.
        next_place: where the next entry will be, after `refresh`. A message takes a place for each chunk.
        open_key: the tag and the message id of the chunks that are added to the last message; None if none are.
        open_place: where that message is; None if there is none.
        places: where the newest entry with each id is.

    Args:
        keeps_unknown: whether updates of unknown kinds are entries, too.
        next_place: the first place.
    """

    def __init__(self, *, keeps_unknown: bool = False, next_place: int = 0) -> None:
        self.entries: dict[int, Any] = {}
        self.tool_calls: dict[str, ToolCall] = {}
        self.settings: dict[str, Any] = {}
        self.notices: list[Any] = []
        self.unknown: int = 0
        self.next_place: int = next_place
        self.open_key: tuple[str, str | None] | None = None
        self.open_place: int | None = None
        self._pieces = Pieces()
        self.places: dict[tuple[str, str], int] = {}
        # Entries that only permission requests have named, and where the one with the same id before is.
        self._questions: dict[tuple[str, str], int | None] = {}
        self._keeps_unknown = keeps_unknown

    def apply(self, update: Update) -> int | None:
        """Merge an update. Return the place of the entry that it says or changes; None if it does neither."""
        tag = tag_of(update)
        effect = TABLE.get(tag)
        if isinstance(effect, Says):
            chunk: Any = update
            key = (tag, chunk.message_id)
            if key != self.open_key:
                self.open_message(*key)
            self._pieces.add(chunk)
            return self.open_place
        if isinstance(effect, Changes):
            return self._change(effect, update, is_question=tag == PERMISSION)
        if isinstance(effect, Sets):
            self.settings[tag] = latest(effect, self.settings.get(tag), update)
        elif isinstance(effect, Notifies):
            self.notices.append(update)
        elif self._keeps_unknown:
            return self.add(update)
        else:
            self.unknown += 1
        return None

    def updates(self) -> Iterator[SessionUpdate]:
        """Yield updates that amount to the same, as few as possible.

        What is applied meanwhile is not in them, unless it changes an earlier entry.
        """
        self.refresh()
        for place in [*self.entries]:
            yield from updates_of(self.entries[place])
        yield from [*self.settings.values()]

    def open_message(self, tag: str, message_id: str | None) -> None:
        """Begin a message, to which chunks with a tag and a message id are added."""
        effect = TABLE.get(tag)
        if isinstance(effect, Says):
            pieces = Pieces()
            self.open_place = self.add(Message(effect.role, message_id, pieces, 0))
            self._pieces, self.open_key = pieces, (tag, message_id)

    def end_message(self) -> None:
        """Let the next chunk begin a message, though it may have the role and the id of the last one."""
        self.refresh()
        self.open_key = self.open_place = None

    def refresh(self) -> None:
        """Let the last message have all of its chunks."""
        if self.open_place is not None:
            self.entries[self.open_place] = self.entries[self.open_place].latest()
            self.next_place = max(self.next_place, self.open_place + len(self._pieces))

    def add(self, entry: Any, place: int | None = None) -> int:
        """Add an entry, as the newest one with its id, and return its place."""
        self.end_message()
        if place is None:
            place, self.next_place = self.next_place, self.next_place + 1
        self._put(entry, place)
        return place

    def drop_questions(self) -> None:
        """Remove the tool calls that only permission requests have named: some agents ask under an id of its own."""
        for key, before in self._questions.items():
            del self.entries[self.places.pop(key)], self.tool_calls[key[1]]
            if before is not None:
                self._put(self.entries[before], before)
        self._questions.clear()

    def take_replay(self, replay: Timeline) -> None:
        """Take what the replay of an earlier part of the same session has and this lacks.

        A replay may be split otherwise, and may have less. If it has more, then between the entries that both have,
        those are kept that say more.
        """
        self.end_message()
        replay.end_message()
        ours, theirs = [*self.entries.values()], [*replay.entries.values()]
        entries = _merge_if_nothing_is_new(ours, theirs)
        if entries is None:
            entries = list[Any]()
            for kind, *ends in SequenceMatcher(None, _identities(ours), _identities(theirs)).get_opcodes():
                mine, other = ours[ends[0] : ends[1]], theirs[ends[2] : ends[3]]
                entries += map(_complete, mine, other) if kind == "equal" else max(mine, other, key=_weight)
        for known in (self.entries, self.tool_calls, self.places, self._questions):
            known.clear()
        for entry in entries:
            self.add(entry)
        self.settings |= replay.settings
        self.notices += replay.notices
        self.unknown += replay.unknown

    def _change(self, effect: Changes, update: Any, *, is_question: bool) -> int:
        key = (effect.id, getattr(update, effect.id))
        place = self.places.get(key)
        entry, is_new = apply_change(effect, None if place is None else self.entries[place], update)
        if not is_question:
            self._questions.pop(key, None)
        elif is_new:
            self._questions[key] = place
        if place is None or is_new:
            return self.add(entry)
        self._put(entry, place)
        return place

    def _put(self, entry: Any, place: int) -> None:
        self.entries[place] = entry
        if (key := key_of(entry)) is not None:
            self.places[key] = place
            if key[0] == "tool_call_id":
                self.tool_calls[key[1]] = entry


def updates_of(entry: Any) -> Sequence[Any]:
    """Return the updates that an entry amounts to."""
    return entry.updates if isinstance(entry, Message) else (entry,)


def key_of(entry: Any) -> tuple[str, str] | None:
    """Return the field with the id of an entry or of an update, and the id; None if it has none."""
    effect = None if isinstance(entry, Message) else TABLE.get(tag_of(entry))
    return (effect.id, getattr(entry, effect.id)) if isinstance(effect, Changes) else None


def _merge_if_nothing_is_new(ours: Sequence[Any], theirs: Sequence[Any]) -> list[Any] | None:
    """Return our entries with how they ended by a replay; None if the replay has a text or an entry that we lack.

    The newest ones are compared first, because an id may be used again.
    """
    for role in get_args(Role):
        said = "".join(message.text for message in ours if isinstance(message, Message) and message.role == role)
        end = len(said)
        for entry in reversed(theirs):
            if isinstance(entry, Message) and entry.role == role and (end := said.rfind(entry.text, 0, end)) < 0:
                return None
    entries, place = [*ours], len(ours)
    for entry in reversed(theirs):
        if not isinstance(entry, Message):
            place = next((place for place in range(place - 1, -1, -1) if key_of(ours[place]) == key_of(entry)), -1)
            if place < 0:
                return None
            entries[place] = _complete(ours[place], entry)
    return entries


def _identities(entries: Sequence[Any]) -> list[object]:
    """Return what entries have in common with the same ones in a replay."""
    return [(entry.role, entry.text) if isinstance(entry, Message) else key_of(entry) for entry in entries]


def _complete(ours: Any, theirs: Any) -> Any:
    """Return an entry, unless it has ended with the status and what else only the same one in a replay has."""
    if isinstance(ours, Message) or has_ended(ours):
        return ours
    kept = {name: value for name, value in given_fields(ours).items() if value not in (None, "", [])}
    return theirs.model_copy(update={**kept, "status": theirs.status or ours.status})


def _weight(entries: Iterable[Any]) -> tuple[int, int]:
    """Return how much entries say: tool calls and compactions, then characters."""
    texts = [len(entry.text) if isinstance(entry, Message) else None for entry in entries]
    return texts.count(None), sum(filter(None, texts))
