"""What a `ScriptedAgent` does at each prompt."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from acp_bindings import v1
from acp_kit.agent import Turn
from acp_kit.client import ClientSession, open_session
from acp_kit.testing import ScriptedAgent, ScriptedClient, connect, die, wait
from acp_runtime import CapabilityError, ConnectionClosed, MethodNotFound, RemoteError, RequestError
from tests.support.kit.turns import Viewer


async def edit(turn: Turn) -> None:
    async with turn.tool_call("Edit a.txt", kind="edit") as call:
        await call.ask()


async def test_each_argument_is_what_happens_at_one_prompt() -> None:
    agent = ScriptedAgent(["Hello ", edit, "done"], RequestError(429, "quota"), wait)
    async with connect(agent, ScriptedClient(permissions=["allow_once"])) as session:
        assert await session.ask("hi") == "Hello done"
        with pytest.raises(RemoteError, match="quota"):
            await session.ask("again")
        async with session.prompt("last") as turn:
            await agent.wait_for_prompts(3)
        assert turn.stop_reason == "cancelled"
    assert [request.prompt[0] for request in agent.prompts] == [
        v1.ContentBlockText(text=text) for text in ("hi", "again", "last")
    ]
    agent.assert_done()


async def test_an_update_is_sent_as_it_is() -> None:
    plan = v1.SessionUpdatePlan(entries=[v1.PlanEntry(content="Look", priority="low", status="pending")])
    client = ScriptedClient()
    async with connect(ScriptedAgent([plan]), client) as session:
        await session.ask("hi")
        assert client.updates == [plan]


async def test_a_script_is_played_across_sessions_and_connections() -> None:
    agent = ScriptedAgent("one", "two", "three")
    async with connect(agent, Viewer) as session:
        assert await session.ask("1") == "one"
        async with open_session(session.agent, cwd="/elsewhere") as other:
            assert await other.ask("2") == "two"
    async with connect(agent, Viewer) as session:
        assert await session.ask("3") == "three"
    agent.assert_done()


async def test_prompts_of_two_sessions_run_at_the_same_time() -> None:
    met = [asyncio.Event(), asyncio.Event()]

    def meeting(mine: int) -> Any:
        async def meet(turn: Turn) -> None:
            met[mine].set()
            await met[1 - mine].wait()
            await turn.say(str(mine))

        return meet

    agent = ScriptedAgent(meeting(0), meeting(1))
    async with connect(agent, Viewer) as session, open_session(session.agent, cwd="/") as other:
        assert await asyncio.gather(session.ask("a"), other.ask("b")) == ["0", "1"]
    agent.assert_done()


async def broken(turn: Turn) -> None:
    raise KeyError("oops")


@pytest.mark.parametrize(
    ("script", "sent", "refused", "undone"),
    [
        (["one"], 2, "prompt 2 of 1: 'go'", "2 of 1 prompts were sent"),
        (["one", "two"], 1, None, "1 of 2 prompts were sent"),
        ([[broken, "a"]], 1, "Internal error", "prompt 1 of 1 got to step 1 of 2, broken"),
    ],
)
async def test_a_script_that_is_not_played_to_its_end_says_where_it_is(
    script: list[Any], sent: int, refused: str | None, undone: str
) -> None:
    agent = ScriptedAgent(*script)
    async with connect(agent, Viewer) as session:
        for _ in range(sent - bool(refused)):
            await session.ask("go")
        if refused:
            with pytest.raises(RemoteError, match=refused):
                await session.ask("go")
    with pytest.raises(AssertionError, match=undone):
        agent.assert_done()


async def test_a_step_that_the_cancellation_prevents_is_not_done() -> None:
    agent = ScriptedAgent(["a", wait, "b"])
    async with connect(agent, Viewer) as session, session.prompt("1"):
        await agent.wait_for_prompts(1)
    with pytest.raises(AssertionError, match="prompt 1 of 1 got to step 2 of 3, wait"):
        agent.assert_done()


async def test_the_runtime_checks_order_types_and_missing_methods() -> None:
    async with connect(ScriptedAgent("hi"), Viewer) as session:
        with pytest.raises(CapabilityError):
            await session.agent.session_load(session_id="s", cwd="/", mcp_servers=[])
        with pytest.raises(MethodNotFound):
            await session.agent.ext_request("_acme/ping")
        with pytest.raises(RemoteError, match="There is no session"):
            await session.agent.session_prompt(session_id="other", prompt=[])


async def test_a_client_that_closes_early_ends_the_turn() -> None:
    left: list[ClientSession] = []
    agent = ScriptedAgent(wait)
    async with connect(agent, Viewer) as session:
        left.append(session)
        running = asyncio.create_task(session.ask("1"))
        await agent.wait_for_prompts(1)
    with pytest.raises(ConnectionClosed):
        await running
    agent.assert_done()


async def test_a_script_goes_on_after_the_death_of_its_agent() -> None:
    agent = ScriptedAgent(["half", die()], "whole")
    async with connect(agent, Viewer) as session:
        with pytest.raises(ConnectionClosed):
            await session.ask("go")
    async with connect(agent, Viewer) as session:
        assert await session.ask("go") == "whole"
    agent.assert_done()


@pytest.mark.parametrize("text", ["\ud800 alone", "x" * (1 << 20), "line\nfeeds\r\u2028\x85"])
async def test_any_text_arrives_as_it_is(text: str) -> None:
    async with connect(ScriptedAgent([text, "end"]), Viewer) as session:
        assert await session.ask("go") == f"{text}end"


@pytest.mark.parametrize("side", ["agent", "client"])
async def test_a_factory_that_raises_is_the_error_of_the_test(side: str) -> None:
    def broken(remote: Any) -> Any:
        raise ZeroDivisionError(side)

    agent, client = (broken, Viewer) if side == "agent" else (ScriptedAgent(), broken)
    with pytest.raises(ZeroDivisionError, match=side):
        async with connect(agent, client):
            pass
