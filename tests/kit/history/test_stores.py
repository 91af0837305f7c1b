"""What every store of histories does."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from pydantic_core import PydanticSerializationError

from acp_bindings import v1
from acp_kit.history import SessionExists, UnknownSession
from acp_runtime import Options, OversizedMessage, ResourceNotFound
from tests.support.kit.histories import kept, opened, read
from tests.support.kit.session_updates import parse, recorded_sessions, text_chunk, updates_of
from tests.support.scale import count

# The group shares the import of sqlalchemy.
pytestmark = pytest.mark.xdist_group("packages")


def call(number: int, **fields: Any) -> Any:
    return v1.SessionUpdateToolCall(tool_call_id=str(number), title=f"call {number}", **fields)


@pytest.mark.stress
def test_reading_returns_any_sequence_that_was_appended(where: str) -> None:
    numbers = iter(range(1_000_000))

    @settings(
        max_examples=count(10 if where else 30, 1000),
        deadline=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.lists(st.lists(updates_of("v1"), min_size=1, max_size=5), max_size=8))
    def check(batches: list[list[Any]]) -> None:
        runner.run(append_and_read(f"s{next(numbers)}", [[parse(item) for item in batch] for batch in batches]))

    async def append_and_read(session_id: str, batches: list[list[Any]]) -> None:
        await store.create(session_id, cwd="/")
        appended: list[Any] = []
        for number, batch in enumerate(batches):
            await store.append(session_id, *batch)
            appended += batch
            if number % 3 == 0:
                assert kept(await read(store, session_id)) == kept(appended)
        updates = await read(store, session_id)
        assert kept(updates) == kept(appended)
        assert updates == await read(store, session_id)

    opening = opened(where)
    with asyncio.Runner() as runner:
        store = runner.run(opening.__aenter__())
        try:
            check()
        finally:
            runner.run(opening.__aexit__(None, None, None))


@pytest.mark.parametrize("value", [float("nan"), object()], ids=["NaN", "object"])
async def test_what_can_not_be_sent_is_refused_with_all_that_was_appended_together(where: str, value: Any) -> None:
    async with opened(where, "s") as store:
        with pytest.raises(PydanticSerializationError):
            await store.append("s", text_chunk("a"), call(1, status="completed", raw_output={"value": value}))
        assert await read(store) == []


async def test_an_update_that_is_too_large_for_a_message_is_refused(where: str) -> None:
    async with opened(where, "s") as store:
        with pytest.raises(OversizedMessage, match="session/update"):
            await store.append("s", text_chunk("x" * Options.max_message_bytes))
        assert await read(store) == []


async def test_halves_of_a_character_in_two_chunks_become_the_character(where: str) -> None:
    async with opened(where, "s") as store:
        for text in ("a\ud83d", "\ude00b", "\ude00 \ud83d"):
            await store.append("s", text_chunk(text))
        assert await read(store) == [text_chunk("a\U0001f600b\ude00 \ud83d")]


async def test_recorded_sessions_are_read_as_they_were_appended(where: str) -> None:
    async with opened(where) as store:
        for name, updates in recorded_sessions():
            await store.create(name, cwd="/")
            await store.append(name, *updates)
            assert kept(await read(store, name)) == kept(updates), name


async def test_messages_are_merged_and_tool_calls_are_one_update_in_order(where: str) -> None:
    image = v1.SessionUpdateAgentMessageChunk(content=v1.ContentBlockImage(data="AA==", mime_type="image/png"))
    async with opened(where, "s") as store:
        for update in (text_chunk("hi", "user_message"), text_chunk("a"), text_chunk("b"), image, text_chunk("c")):
            await store.append("s", update)
        await store.append("s", call(1, kind="read"), text_chunk("d"), call(2))
        await store.append("s", v1.SessionUpdateToolCallUpdate(tool_call_id="1", status="completed"))
        await store.append("s", text_chunk("e"), image, text_chunk("f", message_id="1"))
        assert await read(store) == [
            text_chunk("hi", "user_message"),
            text_chunk("ab"),
            image,
            text_chunk("c"),
            call(1, kind="read", status="completed"),
            text_chunk("d"),
            call(2),
            text_chunk("e"),
            image,
            text_chunk("f", message_id="1"),
        ]


async def test_a_tool_call_is_found_however_many_updates_are_appended_with_it(where: str) -> None:
    async with opened(where, "s") as store:
        end = v1.SessionUpdateToolCallUpdate(tool_call_id="0", status="completed")
        await store.append("s", *(call(number) for number in range(500)), end)
        assert await read(store) == [call(0, status="completed"), *(call(number) for number in range(1, 500))]


async def test_the_last_value_of_each_setting_is_read_at_the_end(where: str) -> None:
    def plan(text: str) -> Any:
        return v1.SessionUpdatePlan(entries=[v1.PlanEntry(content=text, priority="low", status="pending")])

    async with opened(where, "s") as store:
        await store.append("s", plan("1"), text_chunk("a"), v1.SessionUpdateCurrentModeUpdate(current_mode_id="ask"))
        await store.append("s", plan("2"), text_chunk("b"), v1.SessionUpdateNotice(severity="info", title="n"))
        first, *rest = await read(store)
        assert first == text_chunk("ab")
        assert sorted(rest, key=repr) == sorted(
            [plan("2"), v1.SessionUpdateCurrentModeUpdate(current_mode_id="ask")], key=repr
        )


async def test_what_is_appended_while_a_session_is_read_disturbs_nothing(where: str) -> None:
    async with opened(where, "s") as store:
        await store.append("s", *(call(number) for number in range(100)), text_chunk("a"), text_chunk("b"))
        results = []
        async for update in store.read("s"):
            results.append(update)
            await store.append("s", text_chunk("c"))
            if len(results) == 50:
                await store.append("s", call(1000), text_chunk("d"))
        assert results[:100] == [call(number) for number in range(100)]
        (last,) = results[100:]
        assert last.content.text.startswith("ab")


async def test_sessions_are_listed_in_parts_the_last_changed_first(where: str) -> None:
    async with opened(where) as store:
        for number in range(7):
            await store.create(str(number), cwd="/even" if number % 2 == 0 else "/odd", additional_directories=["/b"])
        await store.append("3", text_chunk("a"))
        listed, cursor = [], None
        for _ in range(3):
            part = await store.list(cursor=cursor, limit=3)
            listed += [session.session_id for session in part.sessions]
            cursor = part.next_cursor
        assert (listed, cursor) == (["3", "6", "5", "4", "2", "1", "0"], None)
        limits: list[Any] = ["3", 2.0, True]
        for limit in limits:
            with pytest.raises(TypeError, match="limit must be an int"):
                await store.list(limit=limit)
        even = await store.list(cwd="/even", limit=4)
        assert [session.session_id for session in even.sessions] == ["6", "4", "2", "0"]
        assert even.next_cursor is None
        assert even.sessions[0].additional_directories == ["/b"]


async def test_a_list_has_at_most_50_sessions_unless_more_are_asked_for(where: str) -> None:
    async with opened(where) as store:
        for number in range(51):
            await store.create(str(number), cwd="/")
        part = await store.list()
        assert (len(part.sessions), part.next_cursor is None) == (50, False)
        assert len((await store.list(cursor=part.next_cursor)).sessions) == 1


async def test_a_title_comes_from_the_agents_update_or_from_renaming(where: str) -> None:
    async with opened(where) as store:
        await store.create("s", cwd="/a")
        assert (await store.info("s")).title is None
        await store.append("s", v1.SessionUpdateSessionInfoUpdate(title="first"))
        await store.append("s", v1.SessionUpdateSessionInfoUpdate(updated_at="2026-01-01"))
        info = await store.info("s")
        assert (info.session_id, info.cwd, info.title) == ("s", "/a", "first")
        await store.rename("s", "second")
        assert (await store.list()).sessions[0].title == "second"
        assert await read(store) == [v1.SessionUpdateSessionInfoUpdate(title="second", updated_at="2026-01-01")]
        await store.rename("s", None)
        assert (await store.info("s")).title is None


async def test_a_fork_has_the_history_until_then_and_its_own_afterwards(where: str) -> None:
    async with opened(where) as store:
        await store.create("s", cwd="/a", additional_directories=["/b"])
        await store.append("s", call(1), text_chunk("a"), v1.SessionUpdateSessionInfoUpdate(title="t"))
        await store.fork("s", "fork", cwd="/c", additional_directories=["/d"])
        await store.append("s", text_chunk("b"))
        await store.append("fork", text_chunk("c"), v1.SessionUpdateToolCallUpdate(tool_call_id="1", status="failed"))
        title = v1.SessionUpdateSessionInfoUpdate(title="t")
        assert await read(store, "s") == [call(1), text_chunk("ab"), title]
        assert await read(store, "fork") == [call(1, status="failed"), text_chunk("ac"), title]
        info = await store.info("fork")
        assert (info.cwd, info.additional_directories, info.title) == ("/c", ["/d"], "t")
        for cwd, expected in ((None, "/a"), ("", "")):
            await store.fork("s", f"fork {cwd}", cwd=cwd)
            info = await store.info(f"fork {cwd}")
            assert (info.cwd, info.additional_directories) == (expected, [])


async def test_a_session_keeps_the_directories_of_its_last_load(where: str) -> None:
    async with opened(where) as store:
        for name in "s", "later":
            await store.create(name, cwd="/a", additional_directories=["/b"])
        for directories in [["/c", "/b"], []]:
            await store.set_directories("s", directories)
            listed = (await store.list()).sessions
            assert [session.additional_directories for session in listed] == [["/b"], directories]


async def test_a_deleted_session_is_gone_and_its_id_is_free(where: str) -> None:
    async with opened(where, "s") as store:
        await store.append("s", text_chunk("a"), v1.SessionUpdateCurrentModeUpdate(current_mode_id="ask"))
        await store.delete("s")
        await store.delete("s")
        assert (await store.list()).sessions == []
        await store.create("s", cwd="/")
        assert await read(store) == []


async def test_unknown_sessions_and_used_ids_are_refused(where: str) -> None:
    async with opened(where, "s") as store:
        for attempt in (
            lambda: store.append("other", text_chunk("a")),
            lambda: read(store, "other"),
            lambda: store.info("other"),
            lambda: store.rename("other", "t"),
            lambda: store.fork("other", "new"),
            lambda: store.set_directories("other", []),
        ):
            with pytest.raises(UnknownSession, match="'other'") as raised:
                await attempt()
            assert isinstance(raised.value, ResourceNotFound)
        with pytest.raises(SessionExists, match="'s'") as taken:
            await store.create("s", cwd="/")
        assert taken.value.session_id == "s"
        with pytest.raises(SessionExists, match="'s'"):
            await store.fork("s", "s")
