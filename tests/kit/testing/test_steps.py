"""The ready steps do on the wire what their names say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from acp_bindings import v1
from acp_kit.recording.file_format import read_recording
from acp_kit.testing import ScriptedAgent, ScriptedClient, connect, die, garbage, ignore_cancel, late, reuse_id, slow
from acp_kit.testing.connecting import RECORD
from acp_runtime import ConnectionClosed
from tests.support.kit.turns import Viewer

CALLS = ["tool_call 7", "tool_call_update 7"]


def shown(message: Any) -> str:
    """Return the text, the tool call or the stop reason of an agent's message."""
    if "result" in message:
        return str(message["result"]["stopReason"])
    update = message["params"]["update"]
    return f"{update['sessionUpdate']} {update['toolCallId']}" if "toolCallId" in update else update["content"]["text"]


@pytest.mark.parametrize(
    ("steps", "received"),
    [
        (["a", garbage(b"npm warn\n"), "b", garbage(b"last\n")], ["a", "npm warn", "b", "last", "end_turn"]),
        ([late("late"), "a"], ["a", "end_turn", "late"]),
        (reuse_id("7"), [*CALLS, *CALLS, "end_turn"]),
        (slow("one two three", seconds=0), ["one ", "two ", "three", "end_turn"]),
    ],
)
async def test_a_step_does_what_its_name_says(
    steps: Any, received: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(RECORD, str(tmp_path))
    agent = ScriptedAgent(steps, "next")
    async with connect(agent, Viewer) as session:
        await session.ask("1")
        assert await session.ask("2") == "next"
    _, _, *lines = [entry for entry in read_recording(next(tmp_path.iterdir())) if entry.direction == "a2c"]
    assert [entry.line or shown(entry.message) for entry in lines] == [*received, "next", "end_turn"]
    agent.assert_done()


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


async def test_death_ends_the_connection_after_the_sent_updates() -> None:
    agent, client = ScriptedAgent(["last words", die(3)]), ScriptedClient()
    async with connect(agent, client) as session:
        with pytest.raises(ConnectionClosed):
            await session.ask("1")
        assert client.text == "last words"
    agent.assert_done()
