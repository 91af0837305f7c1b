"""The text of a turn is what the agent said in it, and a session returns it for a question."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from acp_kit.client import UnfinishedTurn
from acp_runtime import ResourceNotFound
from tests.support.kit.turn_agent import act, opened


async def test_the_text_of_a_turn_has_nothing_of_the_turns_before(tmp_path: Path) -> None:
    async with opened(tmp_path) as session:
        turns = [session.prompt(act("say", *texts)) for texts in (("one ", "two"), ("three",), ())]
        for turn in turns:
            async with turn:
                await turn.wait()
        assert [turn.text for turn in turns] == ["one two", "three", ""]
        assert session.state.text == "one twothree"


async def test_the_text_of_a_turn_grows_before_anybody_reads_its_updates(tmp_path: Path) -> None:
    async with opened(tmp_path) as session, session.prompt(act("stall", "begun")) as turn:
        assert turn.text == ""
        while not turn.text:
            await asyncio.sleep(0)
        assert turn.text == "begun"
        await turn.cancel()
        await turn.wait()
        assert turn.text == "begun"


async def test_a_question_is_answered_with_the_text_of_its_turn(tmp_path: Path) -> None:
    async with opened(tmp_path) as session:
        assert await session.ask(act("say", "one")) == "one"
        assert await session.ask(act("say", "two")) == "two"


@pytest.mark.parametrize("reason", ["max_tokens", "max_turn_requests", "refusal", "cancelled"])
async def test_a_reply_that_is_not_finished_is_no_answer(reason: str, tmp_path: Path) -> None:
    async with opened(tmp_path) as session:
        with pytest.raises(UnfinishedTurn, match=reason) as caught:
            await session.ask(act("say", "half a", stop_reason=reason))
        assert (caught.value.stop_reason, caught.value.text) == (reason, "half a")
        assert await session.ask(act("say", "again")) == "again"


async def test_a_question_raises_the_agent_s_error(tmp_path: Path) -> None:
    async with opened(tmp_path) as session:
        with pytest.raises(ResourceNotFound):
            await session.ask(act("refuse"))


async def test_a_cancelled_question_cancels_the_turn(tmp_path: Path) -> None:
    async with opened(tmp_path) as session:
        question = asyncio.create_task(session.ask(act("stall", "begun")))
        while not session.state.text:
            await asyncio.sleep(0)
        question.cancel()
        with pytest.raises(asyncio.CancelledError):
            await question
        assert await session.ask(act("say", "again")) == "again"
