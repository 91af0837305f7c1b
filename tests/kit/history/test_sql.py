"""`SqlHistory`: its file, its errors, and its requests to a database."""

from __future__ import annotations

import asyncio
import sqlite3
import stat
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event
from sqlalchemy.pool import Pool

from acp_bindings import v1, v1_unstable
from acp_kit.history import HistoryDamaged, HistoryError, HistoryTooNew, SqlHistory
from tests.support.event_loop import let_others_run
from tests.support.kit.histories import kept, opened, read
from tests.support.kit.session_updates import text_chunk
from tests.support.programs import output_of

# The group shares the import of sqlalchemy.
pytestmark = pytest.mark.xdist_group("packages")


async def write_pages(path: Path) -> None:
    """Write a history of some pages."""
    async with opened(path, "s") as store:
        await store.append("s", *(text_chunk("x" * 100, message_id=str(number)) for number in range(300)))


def _no_database(path: Path) -> None:
    path.write_bytes(b"Dear diary, this is no database. " * 100)


def _half(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _no_header(path: Path) -> None:
    path.write_bytes(b"\0" * 100 + path.read_bytes()[100:])


def _a_page_of_zeros(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[8 * 4096 : 9 * 4096] = bytes(4096)
    path.write_bytes(content)


def _random_bytes(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[5 * 4096 : 6 * 4096] = bytes(number * 37 % 251 for number in range(4096))
    path.write_bytes(content)


@pytest.mark.parametrize("damage", [_no_database, _half, _no_header, _a_page_of_zeros, _random_bytes])
async def test_a_damaged_file_is_reported_and_left_as_it_is(damage: Callable[[Path], None], tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    await write_pages(path)
    damage(path)
    before = path.read_bytes()
    store = SqlHistory(path)
    for attempt in (
        lambda: store.create("t", cwd="/"),
        lambda: store.append("s", text_chunk("a")),
        lambda: read(store),
        store.list,
    ):
        with pytest.raises(HistoryDamaged, match=r"history\.db is damaged"):
            await attempt()
    await store.close()
    assert path.read_bytes() == before


async def test_damage_that_appears_later_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    await write_pages(path)
    async with SqlHistory(path) as store:
        _change(path, "UPDATE acp_history_entries SET body = substr(body, 2) WHERE position = 3")
        with pytest.raises(HistoryDamaged, match=r"history\.db is damaged: an update in it is not JSON"):
            await read(store)


async def test_a_history_of_a_newer_version_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    await write_pages(path)
    _change(path, "UPDATE acp_history_schema SET version = 2")
    before = path.read_bytes()
    with pytest.raises(HistoryTooNew, match=r"has version 2 .* knows 1\. Upgrade acp-bindings"):
        async with SqlHistory(path):
            pass
    assert path.read_bytes() == before


def _change(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as file:
        file.execute(statement)
        file.commit()


async def test_a_file_is_created_with_its_folder_for_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "history.db"
    async with SqlHistory(str(path)) as store:
        await store.create("s", cwd="/")
        if sys.platform != "win32":
            assert {stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()} == {0o600}
    assert [file.name for file in path.parent.iterdir()] == ["history.db"]


async def test_a_path_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    with pytest.raises(HistoryError, match="can't be opened"):
        await SqlHistory(tmp_path).list()
    (tmp_path / "file").touch()
    with pytest.raises(HistoryError, match="can't be opened"):
        await SqlHistory(tmp_path / "file" / "history.db").list()


async def test_a_server_that_cannot_be_reached_is_named_with_the_reason() -> None:
    with pytest.raises(HistoryError, match=r"The history can't be used: .*Connect call failed"):
        await SqlHistory("postgresql+asyncpg://127.0.0.1:1/name").list()


@pytest.mark.parametrize("url", [":memory:", "sqlite://", "sqlite+aiosqlite:///:memory:"])
def test_a_database_in_memory_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="MemoryHistory"):
        SqlHistory(url)


async def test_a_closed_history_is_opened_again(database: str) -> None:
    store = SqlHistory(database)
    await store.create("s", cwd="/")
    await store.close()
    await store.append("s", text_chunk("a"))
    await store.close()
    await store.close()
    async with store:
        assert await read(store) == [text_chunk("a")]


def test_a_closed_history_is_opened_again_in_another_event_loop(tmp_path: Path) -> None:
    store = SqlHistory(tmp_path / "history")

    async def use(number: int) -> int:
        async with store:
            await asyncio.gather(*(store.create(f"{number} {index}", cwd="/") for index in range(3)))
            return len((await store.list()).sessions)

    assert [asyncio.run(use(number)) for number in range(2)] == [3, 6]


def test_writers_queue_in_each_event_loop_that_uses_a_history(tmp_path: Path) -> None:
    async def append_at_once() -> None:
        await asyncio.gather(*(history.append("s", text_chunk("a")) for _ in range(3)))

    async def use() -> None:
        await history.create("s", cwd="/")
        await append_at_once()

    history = SqlHistory(tmp_path / "h.db")
    asyncio.run(use())
    asyncio.run(append_at_once())
    asyncio.run(history.close())


async def test_a_history_that_is_open_in_another_event_loop_says_so(tmp_path: Path) -> None:
    async with opened(tmp_path / "h.db", "s") as history:
        for use in (history.list(), history.close(), history.append("s", text_chunk("a"))):
            with pytest.raises(RuntimeError, match=r"is used in another event loop\. Close it there first"):
                await asyncio.to_thread(asyncio.run, use)


async def test_a_history_whose_opening_is_cancelled_has_no_connections(tmp_path: Path) -> None:
    connections: list[str] = []
    for name in ("connect", "close"):
        event.listen(Pool, name, lambda *_, name=name: connections.append(name))
    is_cancelled = False
    for steps in range(1, 30):
        opening = asyncio.create_task(SqlHistory(tmp_path / str(steps)).__aenter__())
        for _ in range(steps):
            await asyncio.to_thread(lambda: None)
        opening.cancel()
        (done, _) = await asyncio.wait([opening])
        is_cancelled |= (was_cancelled := opening.cancelled())
        if not was_cancelled:
            await done.pop().result().close()
    assert is_cancelled
    assert connections.count("connect") == connections.count("close") > 0


async def test_an_append_that_is_cancelled_is_finished(database: str) -> None:
    async with opened(database, "s") as store:
        for steps in range(30):
            task = asyncio.create_task(store.append("s", text_chunk(f"{steps}.")))
            await let_others_run(steps)
            task.cancel()
            await asyncio.wait([task])
        (message,) = await read(store)
        # Cancelled before its first step, a task does nothing.
        assert message == text_chunk("".join(f"{steps}." for steps in range(1, 30)))


async def test_any_text_of_a_peer_can_be_stored(database: str) -> None:
    odd = "\ud800 \x00 \ufdd00041 \u2028"
    deep: Any = odd
    for _ in range(150):
        deep = [deep]
    updates = [
        text_chunk("a", message_id=odd),
        text_chunk(odd, message_id=odd),
        v1.SessionUpdateToolCall(tool_call_id=odd, title=odd, raw_input={odd: deep}),
        v1.SessionUpdateToolCallUpdate(tool_call_id=odd, status="completed"),
        v1.SessionUpdateSessionInfoUpdate(title=odd),
    ]
    async with SqlHistory(database) as store:
        await store.create("s", cwd=f"/{odd}", additional_directories=[odd])
        for update in updates:
            await store.append("s", update)
        info = (await store.list(cwd=f"/{odd}")).sessions[0]
        assert (info.cwd, info.additional_directories, info.title) == (f"/{odd}", [odd], odd)
        message, call, title = await read(store)
        assert message == text_chunk(f"a{odd}", message_id=odd)
        assert call == updates[2].model_copy(update={"status": "completed"})
        assert title == updates[4]


async def test_updates_that_the_profile_does_not_know_are_left_out(database: str) -> None:
    plan = v1_unstable.SessionUpdatePlanRemoved(plan_id="1")
    async with SqlHistory(database, profile=v1_unstable) as store:
        await store.create("s", cwd="/")
        await store.append("s", text_chunk("a"), plan, text_chunk("b"))  # type: ignore[arg-type]
        assert [type(update) for update in await read(store)] == [
            v1_unstable.SessionUpdateAgentMessageChunk,
            v1_unstable.SessionUpdatePlanRemoved,
            v1_unstable.SessionUpdateAgentMessageChunk,
        ]
    async with SqlHistory(database) as store:
        assert await read(store) == [text_chunk("a"), text_chunk("b")]


def test_importing_the_history_loads_no_database() -> None:
    loaded = "import sys; from acp_kit.history import MemoryHistory, replay; MemoryHistory()"
    modules = "{'sqlalchemy', 'sqlite3', 'acp_bindings.v1.models.updates'}"
    assert output_of(f"{loaded}; print({modules} & sys.modules.keys())") == "set()"


def test_a_process_ends_though_its_history_was_not_closed(tmp_path: Path) -> None:
    code = f"""
import asyncio
from acp_kit.history import SqlHistory

store = SqlHistory({str(tmp_path / "history.db")!r})

async def main():
    await store.create("s", cwd="/")

asyncio.run(main())
print("done")
"""
    assert output_of(code) == "done"


async def test_a_long_message_is_not_read_again_for_each_chunk(database: str) -> None:
    executed: list[str] = []
    async with opened(database, "s") as store:
        await store.append("s", *(text_chunk("a") for _ in range(1000)))
        event.listen(
            store._database.engine,
            "before_cursor_execute",
            lambda _connection, _cursor, statement, *_: executed.append(statement),
        )
        await store.append("s", text_chunk("b"))
        assert not [
            statement
            for statement in executed
            if "acp_history_entries" in statement and not statement.startswith("INSERT")
        ]
        assert kept(await read(store)) == kept([text_chunk("a" * 1000 + "b")])


async def test_an_append_to_a_file_is_handed_to_a_thread_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs: list[Any] = []
    submit = ThreadPoolExecutor.submit

    def note(threads: ThreadPoolExecutor, job: Any, *args: Any) -> Any:
        jobs.append(job)
        return submit(threads, job, *args)

    async with opened(tmp_path / "history.db", "s") as store:
        monkeypatch.setattr(ThreadPoolExecutor, "submit", note)
        await store.append("s", text_chunk("a"))
        assert len(jobs) == 1


async def test_what_is_read_while_another_process_appends_has_no_gaps(database: str) -> None:
    said = [f"{number}." for number in range(1000)]
    appended = 0
    async with SqlHistory(database) as writer, SqlHistory(database) as reader:
        await writer.create("s", cwd="/")

        async def write() -> None:
            nonlocal appended
            for start in range(0, len(said), 20):  # a message is longer than what is read at a time
                chunks = (text_chunk(text, message_id=str(start // 100)) for text in said[start : start + 20])
                await writer.append("s", *chunks)
                appended = start + 20

        writing = asyncio.create_task(write())
        while not writing.done():
            before = "".join(said[:appended])
            result = "".join(update.content.text for update in await read(reader))
            assert result.startswith(before)
            assert "".join(said).startswith(result)
        await writing
        assert "".join(update.content.text for update in await read(reader)) == "".join(said)
