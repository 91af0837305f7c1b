"""Fakes that public projects have written for their tests, as scripts.

Their sizes are those of the whole files, in lines. Each has a switch for what is here one argument.
"""

from __future__ import annotations

import asyncio

import pytest

from acp_bindings import v1
from acp_kit.agent import Turn, select
from acp_kit.client import open_session
from acp_kit.testing import ScriptedAgent, ScriptedClient, connect, die, garbage, slow
from acp_runtime import ConnectionClosed, InternalError, RemoteError
from tests.support.kit.turns import ActingAgent


# The mock agent of acpx sleeps for as long as the prompt says, unless it is cancelled: 609 lines, at first.
async def test_a_slow_stream_is_cancelled_in_the_middle() -> None:
    agent = ScriptedAgent(slow("one two three", seconds=3600))
    async with connect(agent, ScriptedClient()) as session:
        async with session.prompt("sleep 3600000") as turn:
            async for _ in turn:
                await turn.cancel()
        assert (turn.stop_reason, turn.text) == ("cancelled", "one ")


# A mock agent in JavaScript asks for permission if an environment variable is set, and says the outcome: 160 lines.
async def run_dangerous_command(turn: Turn) -> None:
    async with turn.tool_call("Run dangerous command", kind="execute", raw_input={"command": "rm -rf"}) as call:
        await turn.say(f"allowed: {await call.ask()}")
    if call.rejected:
        await turn.say("rejected")


@pytest.mark.parametrize("choice", ["allow_once", "allow_always", "reject_once", "reject_always", None])
async def test_a_turn_goes_on_or_ends_as_the_answer_to_its_question_says(choice: str | None) -> None:
    client = ScriptedClient(permissions=[choice])
    async with connect(ScriptedAgent(run_dangerous_command), client) as session:
        async with session.prompt("go") as turn:
            await turn.wait()
        (call,) = session.state.tool_calls.values()
    is_allowed = choice is not None and choice.startswith("allow")
    assert call.status == ("completed" if is_allowed else "failed")
    assert turn.text == (f"allowed: {choice}" if is_allowed else "rejected" if choice else "")
    assert turn.stop_reason == ("end_turn" if choice else "cancelled")


# The mock agent of acpx fails before or behind some output, and recovers when it is asked again: about 1,000 lines.
async def test_an_agent_that_fails_and_recovers() -> None:
    failure = InternalError(data={"details": "transient failure"})
    agent = ScriptedAgent(failure, ["partial update", failure], "recovered after retry")
    client = ScriptedClient()
    async with connect(agent, client) as session:
        for _ in range(2):
            with pytest.raises(RemoteError, match="transient failure"):
                await session.ask("retry")
        assert await session.ask("retry") == "recovered after retry"
        assert client.text == "partial updaterecovered after retry"
    agent.assert_done()


# A fake agent in Go has modes, a session to load, and says what didn't arrive: 831 lines.
async def plan(turn: Turn) -> None:
    await turn.plan(v1.PlanEntry(content="Wait for approval", priority="medium", status="in_progress"))


async def test_an_agent_with_modes_a_loaded_session_and_a_broken_transport() -> None:
    modes = select("mode", "Mode", {"auto": "Auto", "plan": "Plan"}, category="mode")
    loading = v1.AgentCapabilities(load_session=True)
    script = ["replayed history", plan, [garbage(b"not-json\n"), die(0)]]
    agent = ScriptedAgent(*script, options=[modes], capabilities=loading)
    async with connect(agent, ScriptedClient()) as session:
        async with open_session(session.agent, cwd="/other", load="fake-session") as loaded:
            assert loaded.state.text == "replayed history"
            await session.agent.session_set_mode(session_id=loaded.id, mode_id="plan")
            await loaded.ask("go")
            assert [entry.content for entry in loaded.state.plan] == ["Wait for approval"]
        with pytest.raises(ConnectionClosed):
            await session.ask("break transport")
    load = next(request for request in agent.requests if isinstance(request, v1.LoadSessionRequest))
    assert (load.session_id, load.cwd, load.mcp_servers) == ("fake-session", "/other", [])
    agent.assert_done()


async def write(turn: Turn) -> None:
    async with turn.tool_call("Write a.txt", kind="edit") as call:
        await call.ask()
        await turn.write_text_file("a.txt", await turn.read_text_file("a.txt") + "y")
    await turn.say("rejected" if call.rejected else "written")
    if call.rejected:
        await asyncio.Event().wait()


async def test_a_scripted_client_permits_keeps_files_and_cancels() -> None:
    client = ScriptedClient(permissions=["allow_once", "reject_once"], files={"a.txt": "x"})
    async with connect(lambda peer: ActingAgent(peer, [write, write], []), client) as session:
        assert await session.ask("write") == "written"
        assert client.files == {"a.txt": "xy"}
        async with session.prompt("write") as turn:
            async for update in turn:
                if update.session_update == "agent_message_chunk":
                    await turn.cancel()
        assert turn.stop_reason == "cancelled"
    assert client.text == "writtenrejected"
    client.assert_done()
