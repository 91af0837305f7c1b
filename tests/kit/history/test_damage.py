"""Damage of any kind to a history's file is reported as `HistoryDamaged`, and odd ids and cursors as what they are."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from base64 import urlsafe_b64encode
from contextlib import closing
from pathlib import Path

import pytest

from acp_bindings import v1
from acp_kit.history import HistoryDamaged, HistoryError, SqlHistory, UnknownSession
from acp_runtime import InvalidParams
from tests.support.kit.histories import opened, read
from tests.support.kit.session_updates import text_chunk

# The group shares the import of sqlalchemy.
pytestmark = pytest.mark.xdist_group("packages")

CHANGES = (
    "DELETE FROM acp_history_schema",
    "INSERT INTO acp_history_schema VALUES (1)",
    "UPDATE acp_history_schema SET version = 'new'",
    "UPDATE acp_history_sessions SET cwd = '{'",
    "UPDATE acp_history_sessions SET title = 'no JSON'",
    "UPDATE acp_history_sessions SET additional_directories = '5'",
    "UPDATE acp_history_entries SET body = CAST(x'FF' AS TEXT)",
)


@pytest.mark.parametrize("change", CHANGES)
async def test_a_row_that_is_damaged_is_reported(change: str, tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    async with opened(path, "s") as store:
        await store.append("s", text_chunk("a"))
    with closing(sqlite3.connect(path)) as file:
        file.execute(change)
        file.commit()
    store = SqlHistory(path)
    with pytest.raises(HistoryDamaged, match=r"history\.db is damaged"):
        await store.list()
        await read(store)
    await store.close()


async def test_a_name_that_is_too_long_is_an_error_of_the_history(tmp_path: Path) -> None:
    with pytest.raises(HistoryError, match="can't be opened"):
        await SqlHistory(tmp_path / ("n" * 300)).list()


@pytest.mark.parametrize("odd", ["\ud800", "\0"])
async def test_a_session_whose_id_no_database_can_store_is_unknown(odd: str, where: str) -> None:
    async with opened(where) as store:
        for attempt in (store.info(odd), store.append(odd, text_chunk("a")), store.fork(odd, "t")):
            with pytest.raises(UnknownSession):
                await attempt
        with pytest.raises(UnknownSession):
            await read(store, odd)
        await store.delete(odd)
        with pytest.raises(ValueError, match="can't be stored"):
            await store.create(odd, cwd="/")
        await store.create("s", cwd="/")
        with pytest.raises(ValueError, match="can't be stored"):
            await store.fork("s", odd)


async def test_a_cursor_that_the_store_did_not_make_is_refused(where: str) -> None:
    odd = ("[" * 100_000, json.dumps(["\ud800", "a"]), json.dumps(["a", "\ud800"]), json.dumps(["a", "\0"]))
    encoded = [urlsafe_b64encode(content.encode()).decode() for content in odd]
    async with opened(where) as store:
        for cursor in ("", "x", "W10=", "WzEsMl0=", "\u00e9", *encoded):
            with pytest.raises(InvalidParams):
                await store.list(cursor=cursor)


async def test_a_failed_append_does_not_fail_appends_that_wait_beside_it(database: str) -> None:
    infinite = v1.SessionUpdateToolCall(tool_call_id="1", title="t", raw_input=float("inf"))
    async with opened(database, "s") as store:
        results = await asyncio.gather(
            store.append("s", text_chunk("a")),
            store.append("missing", text_chunk("b")),
            store.append("s", text_chunk("c"), infinite),
            store.append("s", text_chunk("d")),
            return_exceptions=True,
        )
        assert [type(result).__name__ for result in results] == [
            "NoneType",
            "UnknownSession",
            "PydanticSerializationError",
            "NoneType",
        ]
        assert await read(store) == [text_chunk("ad")]


async def test_closing_waits_for_appends(tmp_path: Path) -> None:
    store = SqlHistory(tmp_path / "history.db")
    await store.create("s", cwd="/")
    appending = asyncio.create_task(store.append("s", text_chunk("a")))
    while not store._writing.locked():  # pyright: ignore[reportPrivateUsage]
        await asyncio.sleep(0)
    await store.close()
    assert appending.done()
    async with store:
        assert await read(store) == [text_chunk("a")]
