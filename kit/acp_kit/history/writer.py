"""Changes one session of a `SqlHistory` in a transaction."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any, Final

from sqlalchemy import RowMapping, Select, delete, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from acp_kit.history.bodies import Bodies, dump
from acp_kit.history.errors import UnknownSession
from acp_kit.history.listing import is_storable, now
from acp_kit.history.merging import CHUNKS, LIVE, SETTINGS, TOOL_CALLS, latest, merged, message_key
from acp_kit.history.tables import ENTRIES, SESSIONS, SETTINGS as SETTINGS_TABLE
from acp_kit.updates import patched, started

# In characters. PostgreSQL's indexes take 2,700 bytes with the id of the session.
_LONGEST_KEY: Final = 1000


class SessionWriter:
    """Changes one session in a transaction. Other processes can't change that session until the transaction ends.

    The chunks of a message are rows of their own until the message ends, so that appending one takes the same time
    however long the message is.

    Args:
        connection: the connection, in a transaction.
        session: the session's row.
        bodies: reads updates from rows.
    """

    def __init__(self, connection: AsyncConnection, session: RowMapping, bodies: Bodies, next_position: int) -> None:
        self._connection = connection
        self._bodies = bodies
        self._session_id: str = session["session_id"]
        self._next = next_position
        self._open_from: int | None = session["open_from"]
        self._open_key: str | None = session["open_key"]
        self._changed: dict[str, Any] = {}
        self._new_rows: list[dict[str, Any]] = []

    @classmethod
    async def lock(
        cls, connection: AsyncConnection, session_id: str, bodies: Bodies, *, new_rows: int = 0
    ) -> SessionWriter:
        """Return a writer for a session, after changing the session's row so that nobody else can.

        Args:
            connection: a connection without changes.
            session_id: the session.
            bodies: reads updates from rows.
            new_rows: how many entries will be appended at most. If there are any, the session is changed now.

        Raises:
            UnknownSession: there is no such session.
        """
        session = await locked(connection, session_id, new_rows)
        return cls(connection, session, bodies, session["next_position"] - new_rows)

    async def append(self, update: Any) -> None:
        """Append an update."""
        tag = update.session_update
        if tag in SETTINGS:
            await self._set(update)
        elif tag in TOOL_CALLS:
            await self._append_tool_call(update)
        elif tag in CHUNKS:
            await self._append_chunk(update)
        elif tag not in LIVE:
            await self._end_message()
            self._add_row(update)

    async def merge_message(self) -> None:
        """Merge the chunks of the last message into few rows. Further ones may follow."""
        if self._open_from is None or self._next - self._open_from < 2:
            return
        await self._insert_new_rows()
        rows = self._rows().where(ENTRIES.c.position >= self._open_from)
        found = (await self._connection.execute(rows.order_by(ENTRIES.c.position))).mappings()
        chunks = [self._bodies.load(row["body"]) for row in found]
        if None in chunks:
            return
        few = merged([each for each in chunks if each is not None])
        if len(few) == len(chunks):
            return
        await self._connection.execute(
            delete(ENTRIES).where(ENTRIES.c.session_id == self._session_id, ENTRIES.c.position >= self._open_from)
        )
        for position, each in enumerate(few, self._open_from):
            self._add_row(each, position=position)

    async def save(self) -> None:
        """Write what is left to write. Call it at the end of the transaction."""
        await self._insert_new_rows()
        if self._changed:
            changed = update(SESSIONS).where(SESSIONS.c.session_id == self._session_id)
            await self._connection.execute(changed.values(**self._changed))

    async def _append_chunk(self, chunk: Any) -> None:
        key = message_key(chunk)
        if key != self._open_key:
            await self._end_message()
            self._open(key, self._next)
        self._add_row(chunk)

    async def _end_message(self) -> None:
        if self._open_key is not None:
            await self.merge_message()
            self._open(None, None)

    def _open(self, key: str | None, position: int | None) -> None:
        self._open_key, self._open_from = key, position
        self._changed |= {"open_key": key, "open_from": position}

    async def _append_tool_call(self, change: Any) -> None:
        is_start = change.session_update == "tool_call"
        await self._insert_new_rows()
        key = _tool_call_key(change.tool_call_id)
        found = await self._connection.execute(self._rows().where(ENTRIES.c.tool_call_id == key))
        row = found.mappings().one_or_none()
        if row is None:
            await self._end_message()
            self._add_row(change if is_start else started(change), tool_call_id=key)
            return
        call: Any = change if is_start else self._bodies.load(row["body"])
        if call is not None:
            await self._replace(row["position"], call if is_start else patched(call, change))

    async def _set(self, change: Any) -> None:
        table, tag = SETTINGS_TABLE, change.session_update
        is_this = (table.c.session_id == self._session_id, table.c.tag == tag)
        body = (await self._connection.execute(select(table.c.body).where(*is_this))).scalar_one_or_none()
        value = latest(None if body is None else self._bodies.load(body), change)
        if tag == "session_info_update":
            self._changed["title"] = None if value.title is None else json.dumps(value.title)
        if body is None:
            new = {"session_id": self._session_id, "tag": tag, "body": dump(value)}
            await self._connection.execute(insert(table), [new])
        else:
            await self._connection.execute(update(table).where(*is_this).values(body=dump(value)))

    async def _replace(self, position: int, value: Any) -> None:
        this = (ENTRIES.c.session_id == self._session_id, ENTRIES.c.position == position)
        await self._connection.execute(update(ENTRIES).where(*this).values(body=dump(value)))

    def _rows(self) -> Select[Any, Any]:
        return select(ENTRIES.c.position, ENTRIES.c.body).where(ENTRIES.c.session_id == self._session_id)

    def _add_row(self, value: Any, *, position: int | None = None, tool_call_id: str | None = None) -> None:
        """Add an entry at the end, or at a position that is free."""
        if position is None:
            position, self._next = self._next, self._next + 1
        row = {"session_id": self._session_id, "position": position, "body": dump(value)}
        self._new_rows.append({**row, "tool_call_id": tool_call_id})

    async def _insert_new_rows(self) -> None:
        if self._new_rows:
            rows, self._new_rows = self._new_rows, []
            await self._connection.execute(insert(ENTRIES), rows)


def _tool_call_key(tool_call_id: str) -> str:
    """Return what tells a tool call from others. A long id would not fit into the index of every database."""
    key = json.dumps(tool_call_id)
    return key if len(key) <= _LONGEST_KEY else sha256(key.encode()).hexdigest()


def check_id(session_id: str) -> None:
    """Refuse an id that no database can store.

    Raises:
        UnknownSession: it has a lone surrogate or U+0000.
    """
    if not is_storable(session_id):
        raise UnknownSession(session_id)


async def locked(connection: AsyncConnection, session_id: str, new_rows: int = 0) -> RowMapping:
    """Change the row of a session so that nobody else can until the transaction ends, and return it.

    Args:
        connection: a connection without changes.
        session_id: the session.
        new_rows: how many positions to reserve. Reserved positions may stay free.

    Raises:
        UnknownSession: there is no such session.
    """
    check_id(session_id)
    changes: dict[str, Any] = {"next_position": SESSIONS.c.next_position + new_rows}
    if new_rows:
        changes["updated_at"] = now()
    this = update(SESSIONS).where(SESSIONS.c.session_id == session_id)
    row = (await connection.execute(this.values(changes).returning(*SESSIONS.c))).mappings().one_or_none()
    if row is None:
        raise UnknownSession(session_id)
    return row
