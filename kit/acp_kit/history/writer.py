"""Changes one session of a `SqlHistory` in a transaction."""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import sha256
from typing import Any, Final

from sqlalchemy import Connection, RowMapping, Select, bindparam, delete, func, insert, select, update

from acp_kit.history.bodies import BodyReader, dump
from acp_kit.history.errors import UnknownSession
from acp_kit.history.listing import now
from acp_kit.history.session_ids import check_known_id
from acp_kit.history.tables import ENTRIES, SESSIONS, SETTINGS
from acp_kit.updates.entries import key_of, updates_of
from acp_kit.updates.messages import Chunks
from acp_kit.updates.table import TABLE, tag_of
from acp_kit.updates.timeline import OpenMessage, Timeline
from acp_runtime.updates import Changes, Says, Sets

# The key of chunks of the user's messages. Keys of entries are texts or pairs.
_USER_MESSAGE: Final = "[]"

# These are not made for each update, because that costs more than executing them.
_INSERT: Final = insert(ENTRIES)
_LOCK: Final = (
    update(SESSIONS)
    .where(SESSIONS.c.session_id == bindparam("id"))
    .values(next_position=SESSIONS.c.next_position)
    .returning(*SESSIONS.c)
)
_RESERVE: Final = _LOCK.values(next_position=SESSIONS.c.next_position + bindparam("rows"), updated_at=bindparam("time"))

# In characters. PostgreSQL's indexes take 2,700 bytes with the id of the session.
_LONGEST_KEY: Final = 1000


class SessionWriter:
    """Changes one session in a transaction. Other processes can't change that session until the transaction ends.

    Until a message ends, each of its chunks is a row, so appending a chunk takes the same time however long the message
    is.

    Args:
        connection: the connection, in a transaction.
        session: the session's row, from `lock_session`.
        bodies: reads updates from rows.
        next_position: the position of the next entry.
    """

    def __init__(self, connection: Connection, session: RowMapping, bodies: BodyReader, next_position: int) -> None:
        self._connection = connection
        self._bodies = bodies
        self._session_id: str = session["session_id"]
        self._next = next_position
        self._open_from: int | None = session["open_from"]
        self._open_key: str | None = session["open_key"]
        self._changed: dict[str, Any] = {}
        self._new_rows: list[dict[str, Any]] = []

    def append(self, updates: Sequence[Any]) -> None:
        """Append updates: load the entries and settings that they change, merge, and save the changed ones."""
        self._insert_new_rows()  # of an earlier batch
        known = self._load_entries(updates)
        settings = self._load_settings(updates)
        timeline = self._timeline(known, settings)
        if known and any(map(_starts, updates)):
            timeline.turn_start = max(timeline.turn_start, self._turn_start())
        continued = timeline.open_message
        for change in updates:
            timeline.apply(change)
        timeline.refresh()
        self._next = timeline.next_position
        for position, entry in timeline.entries.items():
            if position not in known:
                for row_position, change in enumerate(updates_of(entry), position):
                    self._add_row(change, row_position)
            elif entry is not known[position]:
                row = (ENTRIES.c.session_id == self._session_id, ENTRIES.c.position == position)
                self._connection.execute(update(ENTRIES).where(*row).values(body=dump(entry)))
            if continued is not None and position == continued.position and continued is not timeline.open_message:
                self.merge_message()  # before the rows after it are added
        if timeline.open_message is not continued:
            self._set_open_message(timeline.open_message)
        self._save_settings(settings, timeline.settings)

    def merge_message(self) -> None:
        """Merge the rows of the last message into as few as possible. Further chunks may follow."""
        if self._open_from is None or self._next - self._open_from < 2:
            return
        self._insert_new_rows()
        rows = self._rows().where(ENTRIES.c.position >= self._open_from)
        stored = (self._connection.execute(rows.order_by(ENTRIES.c.position))).mappings()
        chunks = [self._bodies.load(row["body"]) for row in stored]
        if None in chunks:
            return
        merged = Chunks(chunks).merged(len(chunks))
        if len(merged) == len(chunks):
            return
        self._connection.execute(
            delete(ENTRIES).where(ENTRIES.c.session_id == self._session_id, ENTRIES.c.position >= self._open_from)
        )
        for position, change in enumerate(merged, self._open_from):
            self._add_row(change, position)

    def save(self) -> None:
        """Write the remaining changes. Call it at the end of the transaction."""
        self._insert_new_rows()
        if self._changed:
            changed = update(SESSIONS).where(SESSIONS.c.session_id == self._session_id)
            self._connection.execute(changed.values(**self._changed))

    def _timeline(self, entries: dict[int, Any], settings: dict[str, Any]) -> Timeline:
        """Return a timeline with some entries and settings, in which the open message has no chunks yet."""
        timeline = Timeline(keeps_unknown=True, next_position=self._next)
        timeline.settings |= settings
        for position, entry in entries.items():
            timeline.add(entry, position)
        if self._open_key is not None:
            tag, message_id = json.loads(self._open_key)
            effect = TABLE.get(tag)
            if isinstance(effect, Says):
                timeline.begin_message(effect.role, (tag, message_id))
        return timeline

    def _set_open_message(self, message: OpenMessage | None) -> None:
        self._open_from = None if message is None else message.position
        self._open_key = None if message is None else json.dumps(message.key)
        self._changed |= {"open_from": self._open_from, "open_key": self._open_key}

    def _load_entries(self, updates: Sequence[Any]) -> dict[int, Any]:
        """Return the newest entries with the ids of updates, by position."""
        ids = {_stored_key(key) for change in updates if (key := key_of(change)) is not None}
        if not ids:
            return {}
        id_column = ENTRIES.c.tool_call_id
        newest = select(func.max(ENTRIES.c.position)).where(ENTRIES.c.session_id == self._session_id)
        newest = newest.where(id_column.in_(ids)).group_by(id_column)
        rows = self._rows().where(ENTRIES.c.position.in_(newest)).order_by(ENTRIES.c.position)
        stored = (self._connection.execute(rows)).mappings()
        entries = {row["position"]: self._bodies.load(row["body"]) for row in stored}
        return {position: entry for position, entry in entries.items() if entry is not None}

    def _turn_start(self) -> int:
        """Return the position of the last message of the user."""
        newest = select(func.max(ENTRIES.c.position)).where(ENTRIES.c.session_id == self._session_id)
        position: int | None = self._connection.scalar(newest.where(ENTRIES.c.tool_call_id == _USER_MESSAGE))
        return position or 0

    def _load_settings(self, updates: Sequence[Any]) -> dict[str, Any]:
        """Return the stored settings that updates may change, by tag."""
        tags = {tag for change in updates if isinstance(TABLE.get(tag := tag_of(change)), Sets)}
        if not tags:
            return {}
        rows = select(SETTINGS).where(SETTINGS.c.session_id == self._session_id, SETTINGS.c.tag.in_(tags))
        stored = (self._connection.execute(rows)).mappings()
        return {row["tag"]: self._bodies.load(row["body"]) for row in stored}

    def _save_settings(self, known: dict[str, Any], settings: dict[str, Any]) -> None:
        for tag, value in settings.items():
            if value is known.get(tag):
                continue
            effect = TABLE.get(tag)
            if isinstance(effect, Sets) and "title" in effect.fields:
                self._changed["title"] = json.dumps(getattr(value, effect.fields["title"]))
            row_of_tag = (SETTINGS.c.session_id == self._session_id, SETTINGS.c.tag == tag)
            self._connection.execute(delete(SETTINGS).where(*row_of_tag))
            row = {"session_id": self._session_id, "tag": tag, "body": dump(value)}
            self._connection.execute(insert(SETTINGS), [row])

    def _rows(self) -> Select[Any, Any]:
        return select(ENTRIES.c.position, ENTRIES.c.body).where(ENTRIES.c.session_id == self._session_id)

    def _add_row(self, value: Any, position: int) -> None:
        key = key_of(value)
        stored_key = None if key is None else _stored_key(key)
        effect = TABLE.get(tag_of(value))
        if isinstance(effect, Says) and effect.role == "user":
            stored_key = _USER_MESSAGE
        row = {"session_id": self._session_id, "position": position, "body": dump(value)}
        self._new_rows.append({**row, "tool_call_id": stored_key})

    def _insert_new_rows(self) -> None:
        if self._new_rows:
            rows, self._new_rows = self._new_rows, []
            self._connection.execute(_INSERT, rows)


def _starts(change: Any) -> bool:
    effect = TABLE.get(tag_of(change))
    return isinstance(effect, Changes) and effect.starts


def _stored_key(key: tuple[str, str]) -> str:
    """Return the key to store for an entry. A long one is hashed, to fit into the index of every database."""
    thing, entry_id = key
    text = json.dumps(entry_id if thing == "tool_call" else key)
    return text if len(text) <= _LONGEST_KEY else sha256(text.encode()).hexdigest()


def lock_session(connection: Connection, session_id: str, new_rows: int = 0) -> RowMapping:
    """Lock a session until the transaction ends, by changing its row. Return the row.

    Args:
        connection: a connection without changes.
        session_id: the session.
        new_rows: how many positions to reserve. Reserved positions may stay free.

    Raises:
        UnknownSession: if there is no such session.
    """
    check_known_id(session_id)
    if new_rows:
        locked = connection.execute(_RESERVE, {"id": session_id, "rows": new_rows, "time": now()})
    else:
        locked = connection.execute(_LOCK, {"id": session_id})
    row = locked.mappings().one_or_none()
    if row is None:
        raise UnknownSession(session_id)
    return row
