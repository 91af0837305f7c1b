"""The ready steps do on the wire what their names say."""

from __future__ import annotations

import pytest

from acp_bindings import v1
from acp_kit.client import UnfinishedTurn, open_session
from acp_kit.testing import (
    ScriptedAgent,
    ScriptedClient,
    connect,
    die,
    garbage,
    ignore_cancel,
    late,
    reuse_id,
    slow,
    stop,
)
from acp_runtime import ConnectionClosed, Options, RemoteError
from tests.support.kit.turns import Viewer


async def test_garbage_stands_between_the_messages(caplog: pytest.LogCaptureFixture) -> None:
    lines: list[bytes] = []
    options = keeping(lines)
    async with connect(ScriptedAgent(["a", garbage(b"npm warn\n"), "b"]), Viewer, options=options) as session:
        assert await session.ask("1") == "ab"
    place = lines.index(b"npm warn")
    assert b'"a"' in lines[place - 1]
    assert b'"b"' in lines[place + 1]


async def test_late_text_comes_behind_the_answer() -> None:
    lines: list[bytes] = []
    client = ScriptedClient()
    async with connect(ScriptedAgent([late("late"), "a"], "b"), client, options=keeping(lines)) as session:
        assert await session.ask("1") == "a"
        await session.ask("2")
        assert client.text == "alateb"
    answer = next(number for number, line in enumerate(lines) if b"end_turn" in line)
    assert b'"late"' in lines[answer + 1]


async def test_a_cancel_is_ignored() -> None:
    agent = ScriptedAgent(["a", ignore_cancel, "b"], "next")
    async with connect(agent, Viewer) as session:
        async with session.prompt("1") as turn:
            async for _ in turn:
                await turn.cancel()
                await turn.wait()
        assert turn.response == v1.PromptResponse(stop_reason="end_turn")
        assert turn.text == "ab"
        assert await session.ask("2") == "next"
    agent.assert_done()


async def test_an_id_is_used_for_two_tool_calls() -> None:
    client = ScriptedClient()
    async with connect(ScriptedAgent(reuse_id("7")), client) as session:
        await session.ask("1")
        tags = [(each.session_update, each.tool_call_id) for each in client.updates if hasattr(each, "tool_call_id")]
        assert tags == [("tool_call", "7"), ("tool_call_update", "7")] * 2
        shown = [entry.title for entry in session.state.timeline if isinstance(entry, v1.SessionUpdateToolCall)]
        assert shown == ["First", "Second"]


async def test_death_ends_the_connection_behind_what_was_sent() -> None:
    client = ScriptedClient()
    agent = ScriptedAgent(["last words", die(3)])
    async with connect(agent, client) as session:
        with pytest.raises(ConnectionClosed):
            await session.ask("1")
        assert client.text == "last words"
    agent.assert_done()


async def test_another_stop_reason() -> None:
    async with connect(ScriptedAgent(["a", stop("max_tokens")]), Viewer) as session:
        with pytest.raises(UnfinishedTurn, match="max_tokens"):
            await session.ask("1")


async def test_slow_text_is_said_word_by_word() -> None:
    client = ScriptedClient()
    async with connect(ScriptedAgent(slow("one two three", seconds=0)), client) as session:
        await session.ask("1")
        assert client.text == "one two three"
        assert len(client.updates) == 3


async def test_a_step_that_needs_the_wire_says_so(caplog: pytest.LogCaptureFixture) -> None:
    async with v1.connect_in_process(ScriptedAgent(garbage()), Viewer) as remote:
        await remote.initialize(protocol_version=1)
        async with open_session(remote, cwd="/") as session:
            with pytest.raises(RemoteError):
                await session.ask("1")
    assert "use `acp_kit.testing.connect`, or `acp-bindings agent`" in caplog.text


def keeping(lines: list[bytes]) -> Options:
    """Return options that keep what the client receives."""
    return Options(on_frame=lambda direction, line, _: lines.append(line) if direction == "in" else None)
