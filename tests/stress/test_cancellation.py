"""Prompts that are cancelled at random between two processes leave nothing behind."""

from __future__ import annotations

import asyncio
import random
import sys

import pytest

from acp_bindings.v1 import ContentBlockText, spawn_agent
from tests.support.runtime.peer import PlainClient
from tests.support.scale import SEED, count

AT_ONCE = 100


@pytest.mark.stress
async def test_cancelled_prompts_leave_no_tasks_or_descriptors_in_the_process_of_the_agent() -> None:
    chance = random.Random(SEED)
    command = (sys.executable, "-m", "tests.support.runtime.obedient_agent")
    async with spawn_agent(PlainClient, *command) as agent:
        await agent.initialize(protocol_version=1)
        before = await agent.ext_request("_left")

        async def turn(session: str) -> None:
            text = [ContentBlockText(text=chance.choice(["stream 3", "wait_quietly"]))]
            task = asyncio.create_task(agent.session_prompt(session_id=session, prompt=text))
            await asyncio.sleep(0.001 * chance.randrange(3))
            if chance.random() < 0.5:
                task.cancel()
            else:
                await agent.session_cancel(session_id=session)
            await asyncio.wait({task})
            assert task.cancelled() or task.result().stop_reason in ("cancelled", "end_turn")

        for start in range(0, count(100, 5000), AT_ONCE):
            await asyncio.gather(*(turn(f"s{number}") for number in range(start, start + AT_ONCE)))
        left = await agent.ext_request("_left")
        while left != before:
            left = await agent.ext_request("_left")
