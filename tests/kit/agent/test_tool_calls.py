"""A tool call is reported from its start to its end, whatever happens in between."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from acp_bindings.v1 import ContentBlockText
from acp_kit.agent import Turn
from acp_runtime import RemoteError
from tests.support.kit.turns import Conversation, conversation


def texts(update: Any) -> list[str]:
    return [each.content.text for each in update.content]


def ended(talk: Conversation) -> tuple[str, list[str]]:
    """The status of the last update, and the texts in it."""
    return talk.updates[-1].status, texts(talk.updates[-1])


async def test_a_tool_call_is_shown_with_all_that_is_known_and_ends_completed() -> None:
    async def act(turn: Turn) -> None:
        async with turn.tool_call(
            "Read notes.txt", kind="read", tool="read", locations=["/work/notes.txt"], raw_input={"path": "notes.txt"}
        ) as call:
            call.output("some ", ContentBlockText(text="text"), raw={"lines": 1})

    async with conversation() as talk:
        assert await talk.prompt(act) == "end_turn"
        start, end = talk.updates
        assert start.title == "Read notes.txt"
        assert (start.kind, start.status, start.name) == ("read", "in_progress", "read")
        assert [location.path for location in start.locations] == ["/work/notes.txt"]
        assert start.raw_input == {"path": "notes.txt"}
        assert (end.status, texts(end), end.raw_output) == ("completed", ["some ", "text"], {"lines": 1})
        assert end.tool_call_id == start.tool_call_id


async def test_a_tool_call_without_output_sends_no_content() -> None:
    async def act(turn: Turn) -> None:
        async with turn.tool_call("Nothing"):
            pass

    async with conversation() as talk:
        await talk.prompt(act)
        assert talk.updates[-1].model_dump() == {
            "sessionUpdate": "tool_call_update",
            "toolCallId": talk.updates[0].tool_call_id,
            "status": "completed",
        }


async def test_a_tool_call_that_raises_ends_failed_with_the_reason() -> None:
    async def act(turn: Turn) -> None:
        async with turn.tool_call("Read") as call:
            call.output("half of it", raw="half")
            raise FileNotFoundError("no notes.txt")

    async with conversation() as talk:
        with pytest.raises(RemoteError):
            await talk.prompt(act)
        assert ended(talk) == ("failed", ["half of it", "no notes.txt"])
        assert "rawOutput" not in talk.updates[-1].model_dump()


async def test_an_exception_without_text_is_named() -> None:
    async def act(turn: Turn) -> None:
        async with turn.tool_call("Read"):
            raise KeyError

    async with conversation() as talk:
        with pytest.raises(RemoteError):
            await talk.prompt(act)
        assert ended(talk) == ("failed", ["KeyError"])


async def test_output_and_changes_can_be_sent_before_the_end() -> None:
    async def act(turn: Turn) -> None:
        async with turn.tool_call("Search", kind="search") as call:
            call.output("first")
            await call.update(title="Search everywhere")
            call.output("second")

    async with conversation() as talk:
        await talk.prompt(act)
        _, middle, end = talk.updates
        assert (middle.status, middle.title, texts(middle)) == ("in_progress", "Search everywhere", ["first"])
        assert (end.status, texts(end)) == ("completed", ["first", "second"])


async def test_a_diff_is_content_of_the_tool_call() -> None:
    async def act(turn: Turn) -> None:
        async with turn.tool_call("Edit", kind="edit") as call:
            call.diff("/work/a.txt", old=None, new="new")
            call.diff("/work/b.txt", old="old", new="new")

    async with conversation() as talk:
        await talk.prompt(act)
        diffs = talk.updates[-1].content
        assert [(diff.path, diff.old_text, diff.new_text) for diff in diffs] == [
            ("/work/a.txt", None, "new"),
            ("/work/b.txt", "old", "new"),
        ]


async def test_paths_may_be_objects_and_relative_to_the_working_directory() -> None:
    async def act(turn: Turn) -> None:
        async with turn.tool_call("Edit", locations=[Path("/etc/a"), "b", Path("c")]) as call:
            call.diff(Path("d"), old=None, new="new")

    async with conversation() as talk:
        await talk.prompt(act)
        start, end = talk.updates
        assert [location.path for location in start.locations] == ["/etc/a", "/work/b", "/work/c"]
        assert end.content[0].path == "/work/d"


async def test_ids_of_tool_calls_are_unique() -> None:
    async def act(turn: Turn) -> None:
        for _ in range(3):
            async with turn.tool_call("Read"):
                pass

    async with conversation() as talk:
        await talk.prompt(act)
        await talk.prompt(act)
        assert len({update.tool_call_id for update in talk.updates}) == 6


async def test_parallel_tool_calls_end_by_themselves() -> None:
    async def run(turn: Turn, name: str) -> None:
        async with turn.tool_call(name) as call:
            await call.ask()
            call.output(name)

    async def act(turn: Turn) -> None:
        async with asyncio.TaskGroup() as tasks:
            for name in "abc":
                tasks.create_task(run(turn, name))

    async with conversation() as talk:
        assert await talk.prompt(act, "allow_once", "reject_once", "allow_once") == "end_turn"
        last = {update.tool_call_id: update.status for update in talk.updates}
        assert sorted(last.values()) == ["completed", "completed", "failed"]


async def test_a_cancelled_permission_in_a_task_group_ends_the_turn() -> None:
    async def run(turn: Turn) -> None:
        async with turn.tool_call("Read") as call:
            await call.ask()

    async def act(turn: Turn) -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(run(turn))
            tasks.create_task(run(turn))

    async with conversation() as talk:
        assert await talk.prompt(act, None, None) == "cancelled"
        last = {update.tool_call_id: update.status for update in talk.updates}
        assert list(last.values()) == ["failed", "failed"]


async def test_a_tool_call_can_be_started_and_ended_without_a_block() -> None:
    async def act(turn: Turn) -> None:
        call = await turn.tool_call("Search", kind="search").start()
        await turn.say("meanwhile")
        await call.end("found", raw=[1])
        failing = await turn.tool_call("Fetch").start()
        await failing.end("no network", failed=True)
        with pytest.raises(RuntimeError, match="has ended"):
            await call.end()

    async with conversation() as talk:
        assert await talk.prompt(act) == "end_turn"
        ends = [update for update in talk.updates if update.session_update == "tool_call_update"]
        assert [(end.status, texts(end)) for end in ends] == [("completed", ["found"]), ("failed", ["no network"])]
        assert ends[0].raw_output == [1]


async def test_a_tool_call_that_nobody_ended_ends_failed_with_its_turn() -> None:
    async def forgets(turn: Turn) -> None:
        await turn.tool_call("Search").start()

    async def raises(turn: Turn) -> None:
        await turn.tool_call("Search").start()
        raise ValueError("no index")

    async with conversation() as talk:
        assert await talk.prompt(forgets) == "end_turn"
        assert ended(talk) == ("failed", ["Not finished"])
        with pytest.raises(RemoteError):
            await talk.prompt(raises)
        assert ended(talk) == ("failed", ["no index"])


async def test_content_given_at_the_beginning_is_shown_at_once() -> None:
    async def act(turn: Turn) -> None:
        async with turn.tool_call("Edit", content=["will change a line"]):
            pass

    async with conversation() as talk:
        await talk.prompt(act)
        assert texts(talk.updates[0]) == ["will change a line"]
        assert "locations" not in talk.updates[0].model_dump()


async def test_a_text_is_no_list_of_locations() -> None:
    async def act(turn: Turn) -> None:
        with pytest.raises(TypeError, match=r"such as \['notes.txt'\], not 'notes.txt'"):
            turn.tool_call("Read", locations="notes.txt")
        async with turn.tool_call("Read") as call:
            with pytest.raises(TypeError, match="must be a list of paths"):
                await call.update(locations="notes.txt")

    async with conversation() as talk:
        await talk.prompt(act)


async def test_locations_are_absolute_on_the_wire() -> None:
    async def act(turn: Turn) -> None:
        async with turn.tool_call("Read", locations=["notes.txt", "/elsewhere/notes.txt"]):
            pass

    async with conversation() as talk:
        await talk.prompt(act)
        paths = [location.path for location in talk.updates[0].locations]
        assert paths == ["/work/notes.txt", "/elsewhere/notes.txt"]


async def test_a_tool_call_that_has_not_begun_says_how_to_begin_it() -> None:
    async def act(turn: Turn) -> None:
        call = turn.tool_call("Read")
        for use in call.ask, call.update, call.end:
            with pytest.raises(RuntimeError, match=r"'Read' has not begun\. .* `async with turn\.tool_call"):
                await use()

    async with conversation() as talk:
        await talk.prompt(act)
        assert talk.updates == []
