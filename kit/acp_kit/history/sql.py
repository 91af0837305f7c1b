"""Histories in a database: an SQLite file, or any database that SQLAlchemy has an asynchronous driver for."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncGenerator, Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from sqlalchemy import URL, Connection, RowMapping, delete, insert, literal, make_url, select, tuple_, update
from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError

from acp_kit.common.sequences import check_sequence
from acp_kit.common.shielded_tasks import run_to_end
from acp_kit.history import sqlite
from acp_kit.history.bodies import BodyReader, check_sendable
from acp_kit.history.databases import Database, DatabaseServer, SqliteFile
from acp_kit.history.errors import HistoryDamaged, HistoryError, SessionExists, UnknownSession
from acp_kit.history.listing import check_limit, cursor_after, now, read_cursor
from acp_kit.history.session_ids import check_known_id, check_new_id
from acp_kit.history.store import HistoryStore
from acp_kit.history.tables import ENTRIES, SESSIONS, SETTINGS, create_tables
from acp_kit.history.writer import SessionWriter, lock_session
from acp_runtime import ABSENT

if TYPE_CHECKING:
    from acp_bindings.v1 import ListSessionsResponse, SessionInfo, SessionUpdate

# How many entries are read at a time.
_PAGE = 32

# How many updates are merged at a time. Databases limit the values of one query.
_BATCH = 500


class SqlHistory(HistoryStore):
    """A `HistoryStore` in a database.

    It opens the database on first use. Several processes may use the same database and the same session, because
    nothing is kept in memory between calls. When `append` has returned, the updates survive the end of the process,
    even SIGKILL. After a power failure, an SQLite file may lack the last changes.

    Use it as an async context manager, or call `close` at the end.

    Args:
        url_or_path: the path of an SQLite file, which is created if it doesn't exist, or the URL of a database, such as
            `postgresql+asyncpg://host/name`.
        profile: the profile whose classes `read` returns; by default `acp_bindings.v1`. Updates that the profile
            doesn't know are left out.

    Every method raises:
        HistoryDamaged: if the database is damaged.
        HistoryTooNew: if a newer version of this package has written it.
        HistoryError: if it can't be read or written.
        RuntimeError: if it is open in another event loop that isn't closed, or in the process that forked this one.
    """

    def __init__(self, url_or_path: str | Path, *, profile: ModuleType | None = None) -> None:
        self._location = _path_or_url(url_or_path)
        self._name = f"The history {self._location}" if isinstance(self._location, Path) else "The history"
        self._bodies = BodyReader(profile or import_module("acp_bindings.v1"), self._name)
        self._database: Database | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._process = 0  # the one that has opened the database
        self._opening = asyncio.Lock()
        # Writers of this process queue here. In SQLite they would poll.
        self._writing = asyncio.Lock()

    async def __aenter__(self) -> SqlHistory:
        try:
            await self._get_database()
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close all connections. The next use opens the database again."""
        await run_to_end(self._close())

    async def create(self, session_id: str, *, cwd: str, additional_directories: Sequence[str] = ()) -> None:
        """See `HistoryStore.create`."""
        check_new_id(session_id)
        directories = _dump_directories(additional_directories)
        row = {"session_id": session_id, "cwd": json.dumps(cwd), "additional_directories": directories}
        await self._write(lambda connection: _add_session(connection, {**row, "updated_at": now(), "next_position": 0}))

    async def append(self, session_id: str, *updates: SessionUpdate) -> None:
        """See `HistoryStore.append`. If the caller is cancelled, the updates are appended first."""
        for session_update in updates:
            check_sendable(session_update)
        await self._write(lambda connection: self._append(connection, session_id, updates))

    async def read(self, session_id: str) -> AsyncGenerator[SessionUpdate, None]:
        """See `HistoryStore.read`."""
        session = await self._session(session_id)
        if session["open_key"] is not None:
            await self._write(lambda connection: self._merge_message(connection, session_id))
            session = await self._session(session_id)
        end: int = session["next_position"]
        columns = select(ENTRIES.c.position, ENTRIES.c.body).order_by(ENTRIES.c.position).limit(_PAGE)
        last = -1
        while True:
            conditions = (ENTRIES.c.session_id == session_id, ENTRIES.c.position > last, ENTRIES.c.position < end)
            page = await self._fetch(columns.where(*conditions))
            for row in page:
                last = row["position"]
                if (update := self._bodies.load(row["body"])) is not None:
                    yield update
            if len(page) < _PAGE:
                break
        for row in await self._fetch(select(SETTINGS.c.body).where(SETTINGS.c.session_id == session_id)):
            if (update := self._bodies.load(row["body"])) is not None:
                yield update

    async def info(self, session_id: str) -> SessionInfo:
        """See `HistoryStore.info`."""
        return self._info(await self._session(session_id))

    async def list(self, *, cwd: str | None = None, cursor: str | None = None, limit: int = 50) -> ListSessionsResponse:
        """See `HistoryStore.list`."""
        from acp_bindings.v1 import ListSessionsResponse

        limit = check_limit(limit)
        key = (SESSIONS.c.updated_at, SESSIONS.c.session_id)
        query = select(SESSIONS).order_by(*(column.desc() for column in key)).limit(limit + 1)
        if cwd is not None:
            query = query.where(SESSIONS.c.cwd == json.dumps(cwd))
        if cursor is not None:
            query = query.where(tuple_(*key) < tuple_(*map(literal, read_cursor(cursor))))
        rows = await self._fetch(query)
        last = rows[:limit][-1] if len(rows) > limit else None
        next_cursor = ABSENT if last is None else cursor_after(last["updated_at"], last["session_id"])
        return ListSessionsResponse(sessions=[*map(self._info, rows[:limit])], next_cursor=next_cursor)

    async def set_directories(self, session_id: str, additional_directories: Sequence[str]) -> None:
        """See `HistoryStore.set_directories`."""
        directories = _dump_directories(additional_directories)

        def change(connection: Connection) -> None:
            lock_session(connection, session_id)
            row = update(SESSIONS).where(SESSIONS.c.session_id == session_id)
            connection.execute(row.values(additional_directories=directories))

        await self._write(change)

    async def delete(self, session_id: str) -> None:
        """See `HistoryStore.delete`."""
        with suppress(UnknownSession):
            check_known_id(session_id)
            await self._write(lambda connection: _delete(connection, session_id))

    async def fork(
        self,
        session_id: str,
        new_session_id: str,
        *,
        cwd: str | None = None,
        additional_directories: Sequence[str] = (),
    ) -> None:
        """See `HistoryStore.fork`."""
        check_new_id(new_session_id)
        changed = {"session_id": new_session_id, "additional_directories": _dump_directories(additional_directories)}
        changed |= {} if cwd is None else {"cwd": json.dumps(cwd)}
        await self._write(lambda connection: _fork(connection, session_id, changed))

    async def _close(self) -> None:
        self._check_loop()
        async with self._writing, self._opening:
            database, self._database = self._database, None
            if database is not None:
                await database.close()
            self._loop = None

    def _check_loop(self) -> None:
        """Make new locks if this is the first use in an event loop. A lock belongs to one.

        Raises:
            RuntimeError: if the last event loop may still use the history, or another process has opened it.
        """
        if self._database is not None and self._process != os.getpid():
            advice = "Open a history after the fork, or make another SqlHistory in this process."
            raise RuntimeError(f"{self._name} was opened before this process was forked. {advice}")
        loop = asyncio.get_running_loop()
        if self._loop is loop:
            return
        if self._loop is not None and not self._loop.is_closed():
            advice = "Close it there first, or make another SqlHistory for this event loop."
            raise RuntimeError(f"{self._name} is used in another event loop. {advice}")
        self._loop = loop
        self._opening = asyncio.Lock()
        self._writing = asyncio.Lock()

    def _append(self, connection: Connection, session_id: str, updates: Sequence[SessionUpdate]) -> None:
        batches = [updates[start : start + _BATCH] for start in range(0, len(updates), _BATCH)]
        rows = len(updates) + len(batches)  # each batch may take one more position, for the message that it continues
        session = lock_session(connection, session_id, rows)
        writer = SessionWriter(connection, session, self._bodies, session["next_position"] - rows)
        for batch in batches:
            writer.append(batch)
        writer.save()

    def _merge_message(self, connection: Connection, session_id: str) -> None:
        """Merge the chunks of the last message, so that rows before the session's next position don't change."""
        session = lock_session(connection, session_id)
        writer = SessionWriter(connection, session, self._bodies, session["next_position"])
        writer.merge_message()
        writer.save()

    async def _session(self, session_id: str) -> RowMapping:
        check_known_id(session_id)
        rows = await self._fetch(select(SESSIONS).where(SESSIONS.c.session_id == session_id))
        if not rows:
            raise UnknownSession(session_id)
        return rows[0]

    def _info(self, row: RowMapping) -> SessionInfo:
        from acp_bindings.v1 import SessionInfo

        try:
            return SessionInfo(
                session_id=row["session_id"],
                cwd=json.loads(row["cwd"]),
                additional_directories=json.loads(row["additional_directories"]),
                title=None if row["title"] is None else json.loads(row["title"]),
                updated_at=row["updated_at"],
            )
        except (TypeError, ValueError) as error:
            raise HistoryDamaged(f"{self._name} is damaged: the row of a session is invalid") from error

    async def _fetch(self, query: Any) -> Sequence[RowMapping]:
        database = await self._get_database()
        with self._explain_errors():
            return await database.read(lambda connection: connection.execute(query).mappings().all())

    async def _write(self, work: Callable[[Connection], None]) -> None:
        """Wait for other writers of this process, and call a function in a transaction.

        If the caller is cancelled, this is finished first.
        """

        async def write() -> None:
            self._check_loop()
            async with self._writing:
                database = await self._get_database()
                with self._explain_errors():
                    await database.write(work)

        await run_to_end(write())

    @contextmanager
    def _explain_errors(self) -> Generator[None, None, None]:
        """Turn errors of the database into `HistoryError`."""
        try:
            yield
        except (SQLAlchemyError, OSError) as error:  # OSError: a server can't be reached
            cause = getattr(error, "orig", None) or error
            if isinstance(self._location, Path):
                raise sqlite.explain(self._location, cause) from error
            raise HistoryError(f"{self._name} can't be used: {cause}") from error

    async def _get_database(self) -> Database:
        self._check_loop()
        async with self._opening:
            if self._database is None:
                return await run_to_end(self._open())
            return self._database

    async def _open(self) -> Database:
        if isinstance(self._location, Path):
            await asyncio.to_thread(sqlite.prepare_file, self._location)
            database: Database = SqliteFile(self._location)
        else:
            database = DatabaseServer(self._location)
        try:
            with self._explain_errors():
                try:
                    await database.write(self._create_tables)
                except DBAPIError:  # another process may have created them at the same time
                    await database.write(self._create_tables)
        except BaseException:
            await database.close()
            raise
        self._process = os.getpid()
        self._database = database  # set here, because the caller may be cancelled and `close` must find it
        return database

    def _create_tables(self, connection: Connection) -> None:
        create_tables(connection, self._name)


def _path_or_url(url_or_path: str | Path) -> Path | URL:
    """Return the path if it is an SQLite file, else the URL."""
    if isinstance(url_or_path, str) and "://" in url_or_path:
        url = make_url(url_or_path)
        if url.get_backend_name() != "sqlite":
            return url
        url_or_path = url.database or ":memory:"
    if str(url_or_path) == ":memory:":
        raise ValueError("SqlHistory needs a file or a database. Use MemoryHistory to keep histories in memory.")
    return Path(url_or_path).expanduser()


def _dump_directories(directories: Sequence[str]) -> str:
    return json.dumps([*check_sequence("additional_directories", directories)])


def _add_session(connection: Connection, row: Mapping[str, Any]) -> None:
    try:
        connection.execute(insert(SESSIONS), [dict(row)])
    except IntegrityError:
        raise SessionExists(row["session_id"]) from None


def _delete(connection: Connection, session_id: str) -> None:
    for table in (SESSIONS, ENTRIES, SETTINGS):
        connection.execute(delete(table).where(table.c.session_id == session_id))


def _fork(connection: Connection, session_id: str, changed: Mapping[str, str]) -> None:
    session = lock_session(connection, session_id)
    _add_session(connection, {**session, "updated_at": now(), **changed})
    for table in (ENTRIES, SETTINGS):
        names = [column.name for column in table.columns if column.name != "session_id"]
        copied = select(literal(changed["session_id"]), *(table.c[name] for name in names))
        copied = copied.where(table.c.session_id == session_id)
        connection.execute(insert(table).from_select(["session_id", *names], copied))
