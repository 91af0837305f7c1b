"""A tool call is reported from its start to its end, whatever happens in between."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from acp_bindings.v1 import ContentBlockText, ToolCallContentContent, ToolCallLocation
from acp_kit.agent import Session, Turn
from tests.support.kit.turns import updates_of


def texts(update: Any) -> list[str]:
    return [part.content.text for part in update.content]


async def test_a_tool_call_is_shown_with_all_that_is_known_and_ends_completed() -> None:
    async def act(turn: Turn) -> None:
        async with turn.tool_call(
            "Read notes.txt", kind="read", tool="read", locations=["/work/notes.txt"], raw_input={"path": "notes.txt"}
        ) as call:
            content = ToolCallContentContent(content=ContentBlockText(text="."))
            call.output("some ", ContentBlockText(text="text"), content, raw={"lines": 1})

    start, end = await updates_of(act)
    assert (start.title, start.kind, start.status, start.name) == ("Read notes.txt", "read", "in_progress", "read")
    assert [location.path for location in start.locations] == ["/work/notes.txt"]
    assert start.raw_input == {"path": "notes.txt"}
    assert (end.status, texts(end), end.raw_output) == ("completed", ["some ", "text", "."], {"lines": 1})
    assert end.tool_call_id == start.tool_call_id


async def test_a_tool_call_without_output_or_locations_sends_none() -> None:
    async def act(turn: Turn) -> None:
        async with turn.tool_call("Nothing"):
            pass

    start, end = await updates_of(act)
    expected = {"sessionUpdate": "tool_call_update", "toolCallId": start.tool_call_id, "status": "completed"}
    assert end.model_dump() == expected
    assert "locations" not in start.model_dump()


async def test_output_and_changes_can_be_sent_before_the_end() -> None:
    async def act(turn: Turn) -> None:
        async with turn.tool_call("Search", kind="search") as call:
            call.output("first")
            await call.update(title="Search everywhere")
            call.output("second")

    _, middle, end = await updates_of(act)
    assert (middle.status, middle.title, texts(middle)) == ("in_progress", "Search everywhere", ["first"])
    assert (end.status, texts(end)) == ("completed", ["first", "second"])


async def test_paths_are_absolute_on_the_wire() -> None:
    async def act(turn: Turn) -> None:
        line = ToolCallLocation(path="/etc/d", line=4)
        async with turn.tool_call("Edit", locations=[Path("/etc/a"), "b", Path("c"), line]) as call:
            await call.update(locations=["/work/d", "e"], kind="edit", raw_input={"path": "d"})
            call.diff(Path("d"), old=None, new="new")
            call.diff("/work/e", old="old", new="new")

    start, change, end = await updates_of(act)
    assert [location.path for location in start.locations] == ["/etc/a", "/work/b", "/work/c", "/etc/d"]
    assert start.locations[-1].line == 4
    assert [location.path for location in change.locations] == ["/work/d", "/work/e"]
    assert (change.kind, change.raw_input) == ("edit", {"path": "d"})
    diffs = [(diff.path, diff.old_text, diff.new_text) for diff in end.content]
    assert diffs == [("/work/d", None, "new"), ("/work/e", "old", "new")]


async def test_locations_must_be_a_list() -> None:
    async def act(turn: Turn) -> None:
        async with turn.tool_call("Read") as call:
            for attempt in (call.update, partial(turn.tool_call, "Read")):
                with pytest.raises(TypeError, match="locations must be a list"):
                    await attempt(locations="notes.txt")

    assert len(await updates_of(act)) == 2


async def test_a_tool_call_is_used_after_its_start() -> None:
    async def act(turn: Turn) -> None:
        call = turn.tool_call("Read")
        for attempt in (call.ask, call.update, call.end):
            with pytest.raises(RuntimeError, match="The tool call 'Read' has not begun"):
                await attempt()

    assert await updates_of(act) == []


async def test_a_tool_call_can_be_started_and_ended_without_a_block() -> None:
    async def act(turn: Turn) -> None:
        call = await turn.tool_call("Search", kind="search").start()
        await turn.say("meanwhile")
        await call.end("found", raw=[1])
        failing = await turn.tool_call("Fetch").start()
        await failing.end("no network", failed=True)
        with pytest.raises(RuntimeError, match="has ended"):
            await call.end()

    ends = [update for update in await updates_of(act) if update.session_update == "tool_call_update"]
    assert [(end.status, texts(end)) for end in ends] == [("completed", ["found"]), ("failed", ["no network"])]
    assert ends[0].raw_output == [1]


async def test_a_given_id_is_used_once_and_never_in_a_continued_session() -> None:
    client: Any = None  # nothing is sent
    async with Session(client, "s", cwd="/work").turn() as turn:
        assert turn.tool_call("Read", tool_call_id="read").id == "read"
        assert turn.tool_call("Read", tool_call_id="read").id != "read"
    async with Session(client, "s", cwd="/work", continued=True).turn() as turn:
        assert turn.tool_call("Read", tool_call_id="read").id != "read"
