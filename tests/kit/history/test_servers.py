"""`SqlHistory` in a database server: connections that are lost, and what PostgreSQL is stricter about than SQLite."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import Connection, event, text
from sqlalchemy.ext.asyncio import create_async_engine

from acp_bindings import v1
from acp_kit.history import HistoryError, SqlHistory
from acp_kit.history.tables import METADATA
from tests.support.kit.histories import opened, read
from tests.support.kit.session_updates import text_chunk
from tests.support.postgresql import PostgreSQL

# The group shares the import of sqlalchemy, and the server.
pytestmark = [pytest.mark.test_all, pytest.mark.xdist_group("packages")]

OTHERS = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"


@pytest.fixture
def url(postgresql: PostgreSQL) -> str:
    return postgresql.create_database()


@pytest.mark.parametrize("address", ["127.0.0.1:1/name", "host.invalid/name", "/name?host=/no/such/folder"])
async def test_a_server_that_cannot_be_reached_is_an_error_of_the_history(address: str) -> None:
    with pytest.raises(HistoryError, match="The history can't be used"):
        await SqlHistory(f"postgresql+asyncpg://{address}").list()


async def test_a_database_that_does_not_exist_is_an_error_of_the_history(url: str) -> None:
    with pytest.raises(HistoryError, match='database "missing" does not exist'):
        await SqlHistory(f"{url}&database=missing").list()


async def test_tables_that_another_process_creates_meanwhile_are_used(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    create_all = METADATA.create_all

    async def other_process() -> None:
        async with opened(url, "s"):
            pass

    def create_late(connection: Connection, **options: Any) -> None:
        monkeypatch.undo()
        with ThreadPoolExecutor() as other:
            other.submit(asyncio.run, other_process()).result()
        create_all(connection, **options)

    monkeypatch.setattr(METADATA, "create_all", create_late)
    for _ in range(2):  # whatever it creates, the next one can use
        async with SqlHistory(url) as store:
            assert [session.session_id for session in (await store.list()).sessions] == ["s"]


async def test_connections_that_the_server_has_closed_are_replaced(url: str) -> None:
    async with opened(url, "s") as store:
        await store.append("s", text_chunk("a"))
        engine = create_async_engine(url)
        async with engine.connect() as connection:
            ended = await connection.execute(text(f"SELECT pg_terminate_backend(pid, 10000) {OTHERS}"))
            assert ended.scalars().all() == [True]
        await engine.dispose()
        await store.append("s", text_chunk("b"))
        assert await read(store) == [text_chunk("ab")]


async def test_nothing_is_appended_twice_if_the_connection_is_lost_after_a_commit(url: str) -> None:
    commits: list[Connection] = []

    def lose_the_second(connection: Connection) -> None:
        commits.append(connection)
        if len(commits) == 2:
            connection.exec_driver_sql("COMMIT")
            connection.exec_driver_sql("SELECT pg_terminate_backend(pg_backend_pid())")

    async with opened(url, "s") as store:
        event.listen(store._database.engine, "commit", lose_the_second)
        appends = [store.append("s", text_chunk(f"{number}.")) for number in range(5)]
        results = await asyncio.gather(*appends, return_exceptions=True)
        assert [isinstance(result, HistoryError) for result in results] == [False, True, False, False, False]
        assert await read(store) == [text_chunk("0.1.2.3.4.")]


async def test_the_id_of_a_tool_call_may_be_longer_than_an_index_allows(url: str) -> None:
    ids = [f"{number}".join(map(str, range(10_000))) for number in range(2)]
    async with opened(url, "s") as store:
        for id_ in ids:
            await store.append("s", v1.SessionUpdateToolCall(tool_call_id=id_, title="t"))
        for id_ in ids:
            await store.append("s", v1.SessionUpdateToolCallUpdate(tool_call_id=id_, status="completed"))
        assert await read(store) == [
            v1.SessionUpdateToolCall(tool_call_id=id_, title="t", status="completed") for id_ in ids
        ]
