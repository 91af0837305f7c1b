"""A turn sends what the agent says, thinks and plans, and gives the response."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from contextlib import suppress
from typing import Any

import pytest

from acp_bindings.v1 import ContentBlockText, PlanEntry, PromptRequest
from acp_kit.agent import Turn, TurnCancelled
from acp_runtime import RemoteError, ResourceNotFound
from tests.support.kit.turns import conversation, updates_of


def spoken(updates: list[Any]) -> list[tuple[str, str]]:
    return [(update.session_update, update.content.text) for update in updates]


async def test_what_the_agent_says_and_thinks_is_sent_in_order() -> None:
    async def act(turn: Turn) -> None:
        await turn.think("hm")
        await turn.say("Hello ")
        await turn.say(ContentBlockText(text="world"))

    assert spoken(await updates_of(act)) == [
        ("agent_thought_chunk", "hm"),
        ("agent_message_chunk", "Hello "),
        ("agent_message_chunk", "world"),
    ]


async def test_chunks_are_one_message_until_something_else_is_sent() -> None:
    async def act(turn: Turn) -> None:
        await turn.say("a")
        await turn.say("b")
        entry = PlanEntry(content="look", priority="low", status="pending")
        await turn.plan(entry, entry)
        await turn.say("c")
        await turn.think("d")
        await turn.say("e")

    a, b, plan, c, d, e = await updates_of(act)
    assert a.message_id == b.message_id
    assert len({message.message_id for message in (a, c, d, e)}) == 4
    assert len(plan.entries) == 2


async def test_a_chunk_after_one_with_an_id_of_the_agent_is_a_new_message() -> None:
    async def act(turn: Turn) -> None:
        await turn.say("a")
        await turn.say("b", message_id="1")
        await turn.say("c")
        await turn.think("d", message_id="2")
        await turn.say("e")

    messages = await updates_of(act)
    assert len({message.message_id for message in messages}) == 5


async def test_nothing_is_sent_after_the_block_of_a_turn() -> None:
    turns: list[Turn] = []

    async def act(turn: Turn) -> None:
        turns.append(turn)

    async with conversation() as talk:
        await talk.prompt(act)
        (turn,) = turns

        async def tool_call() -> None:
            async with turn.tool_call("Read"):
                pass

        uses: list[Awaitable[object]] = [
            turn.say("late"),
            turn.think("late"),
            turn.plan(),
            tool_call(),
            turn.tool_call("Read").start(),
            turn.run("true"),
            turn.read_text_file("/work/a"),
            turn.write_text_file("/work/a", ""),
            turn.elicit_url("late", "https://example.org"),
        ]
        for use in uses:
            with pytest.raises(RuntimeError, match="has ended"):
                await use
        assert talk.updates == []


async def test_an_empty_text_is_not_sent() -> None:
    async def act(turn: Turn) -> None:
        for delta in ("", "a", "", "b"):
            await turn.say(delta)
            await turn.think("")
            await turn.say("", message_id="1")

    async with conversation() as talk:
        await talk.prompt(act)
        assert spoken(talk.updates) == [("agent_message_chunk", "a"), ("agent_message_chunk", "b")]
        assert len({update.message_id for update in talk.updates}) == 1
        assert [update.session_update for _, update in talk.recorded] == [
            "user_message_chunk",
            "agent_message_chunk",
            "agent_message_chunk",
        ]


async def test_the_stop_reason_is_the_turns() -> None:
    async def act(turn: Turn) -> None:
        turn.stop_reason = "max_tokens"

    async with conversation() as talk:
        assert await talk.prompt(act) == "max_tokens"


async def test_an_exception_of_the_block_leaves_it() -> None:
    async def act(turn: Turn) -> None:
        raise ResourceNotFound("no such file")

    async with conversation() as talk:
        with pytest.raises(RemoteError) as raised:
            await talk.prompt(act)
        assert raised.value.code == -32002


async def test_a_cancelled_prompt_is_answered_cancelled() -> None:
    started = asyncio.Event()

    async def act(turn: Turn) -> None:
        async with turn.tool_call("Wait"):
            started.set()
            await asyncio.Event().wait()

    async with conversation() as talk:
        prompt = asyncio.create_task(talk.prompt(act))
        await started.wait()
        await talk.agent.session_cancel(session_id=talk.session_id)
        assert await prompt == "cancelled"
        assert [update.status for update in talk.updates] == ["in_progress", "failed"]
        assert talk.updates[-1].content[0].content.text == "Cancelled"


async def test_a_turn_that_swallows_its_cancellation_is_cancelled_all_the_same() -> None:
    started = asyncio.Event()

    async def act(turn: Turn) -> None:
        started.set()
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()

    async with conversation() as talk:
        prompt = asyncio.create_task(talk.prompt(act))
        await started.wait()
        await talk.agent.session_cancel(session_id=talk.session_id)
        assert await prompt == "cancelled"


async def test_updates_and_the_prompt_are_recorded_before_they_are_sent() -> None:
    async def act(turn: Turn) -> None:
        await turn.say("hello")

    async with conversation() as talk:
        await talk.prompt(act)
        assert {session_id for session_id, _ in talk.recorded} == {talk.session_id}
        assert spoken([update for _, update in talk.recorded]) == [
            ("user_message_chunk", "go"),
            ("agent_message_chunk", "hello"),
        ]
        assert [update.session_update for update in talk.updates] == ["agent_message_chunk"]


async def test_a_cancelled_turn_sends_nothing_more_but_the_ends_of_its_tool_calls() -> None:
    refused: list[str] = []

    async def act(turn: Turn) -> None:
        begun = await turn.tool_call("Begun").start()
        async with turn.tool_call("Read") as call:
            with suppress(TurnCancelled):
                await call.ask()
        for name, attempt in {
            "say": turn.say("x"),
            "think": turn.think("x"),
            "plan": turn.plan(),
            "run": turn.run("ls"),
            "elicit": turn.elicit("Which?", {}),
            "elicit url": turn.elicit_url("Where?", "https://example.com"),
            "ask": begun.ask(),
            "update": begun.update(),
            "tool call": turn.tool_call("More").__aenter__(),
        }.items():
            with pytest.raises(TurnCancelled):
                await attempt
            refused.append(name)
        with pytest.raises(TurnCancelled):
            turn.terminal("ls")
        await turn.say("x")

    async with conversation() as talk:
        assert await talk.prompt(act, None) == "cancelled"
        assert len(refused) == 9
        assert [update.session_update for update in talk.updates] == ["tool_call"] * 2 + ["tool_call_update"] * 2


async def test_cancellations_beside_the_users_in_a_group_do_not_count() -> None:
    async def act(turn: Turn) -> None:
        raise BaseExceptionGroup("both", [asyncio.CancelledError(), ExceptionGroup("one", [TurnCancelled()])])

    async with conversation() as talk:
        assert await talk.prompt(act) == "cancelled"


async def test_an_unknown_session_is_answered_with_its_id() -> None:
    async with conversation() as talk:
        with pytest.raises(RemoteError) as raised:
            await talk.agent.session_prompt(session_id="other", prompt=[])
        assert (raised.value.code, raised.value.data) == (-32002, {"sessionId": "other"})


async def test_an_agent_can_use_ids_of_its_own() -> None:
    async def act(turn: Turn) -> None:
        await turn.say("a", message_id="1")
        await turn.say("b")
        await turn.say("c", message_id="1")
        await turn.think("d", message_id="")
        async with turn.tool_call("Read", tool_call_id=""):
            pass

    first, second, third, fourth, *calls = await updates_of(act)
    assert (first.message_id, third.message_id, fourth.message_id) == ("1", "1", "")
    assert second.message_id not in (None, "", "1")
    assert [call.tool_call_id for call in calls] == ["", ""]


async def test_a_turn_takes_the_blocks_of_a_prompt_and_not_its_request() -> None:
    async def act(turn: Turn) -> None:
        blocks = [ContentBlockText(text="hi")]
        for prompt in ("hi", PromptRequest(session_id=turn.session.id, prompt=blocks)):
            wrong: Any = prompt
            with pytest.raises(TypeError, match=rf"`turn\(request\.prompt\)`, not {type(prompt).__name__}\.$"):
                turn.session.turn(wrong)

    assert await updates_of(act) == []
