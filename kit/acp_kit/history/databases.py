"""Runs work in a thread with a connection to an SQLite file, or with one to the server of another database.

An asynchronous driver for SQLite has a thread, too. It hands over each step of a statement, which costs several times
as much as the statements.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final, Protocol, TypeVar

from sqlalchemy import URL, Connection, Engine
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from acp_kit.history import sqlite

T = TypeVar("T")

# One of them writes.
_THREADS: Final = 4


class Database(Protocol):
    """A database."""

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Call a function with a connection, and return its result."""
        ...

    async def write(self, work: Callable[[Connection], T]) -> T:
        """Call a function with a connection in a transaction, commit it, and return the result."""
        ...

    async def close(self) -> None:
        """Close all connections."""
        ...


class SqliteFile(Database):
    """An SQLite file. Work that has begun is finished, even if the task that waits for it is cancelled."""

    def __init__(self, path: Path) -> None:
        self.engine: Engine = sqlite.engine_for(path)
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="acp-history")

    async def read(self, work: Callable[[Connection], T]) -> T:
        """See `Database.read`."""
        return await self._run(self.engine.connect, work)

    async def write(self, work: Callable[[Connection], T]) -> T:
        """See `Database.write`."""
        return await self._run(self.engine.begin, work)

    async def close(self) -> None:
        """See `Database.close`."""
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self._threads.shutdown()
        self.engine.dispose()

    async def _run(
        self, connect: Callable[[], AbstractContextManager[Connection]], work: Callable[[Connection], T]
    ) -> T:
        def run() -> T:
            with connect() as connection:
                return work(connection)

        return await asyncio.get_running_loop().run_in_executor(self._threads, run)


class DatabaseServer(Database):
    """A database with a server."""

    def __init__(self, url: URL) -> None:
        # Replaces connections that the server has closed, for example by a restart.
        self._async_engine: AsyncEngine = create_async_engine(url, pool_pre_ping=True)
        self.engine: Engine = self._async_engine.sync_engine

    async def read(self, work: Callable[[Connection], T]) -> T:
        """See `Database.read`."""
        async with self._async_engine.connect() as connection:
            return await connection.run_sync(work)

    async def write(self, work: Callable[[Connection], T]) -> T:
        """See `Database.write`."""
        async with self._async_engine.begin() as connection:
            return await connection.run_sync(work)

    async def close(self) -> None:
        """See `Database.close`."""
        await self._async_engine.dispose()
