"""Prompts that are cancelled at random in every possible way: each gets one response, and nothing is left behind."""

from __future__ import annotations

import asyncio
import json
import random
import sys
from collections import Counter
from typing import Any

import pytest

from acp_bindings.v1 import ContentBlockText, PromptRequest, PromptResponse, RemoteAgent, spawn_agent
from acp_runtime import RequestCancelled, RequestError
from acp_runtime.options import Options
from tests.support.runtime.idle import is_idle
from tests.support.runtime.peer import Link, PlainAgent, PlainClient, chunk
from tests.support.scale import count
from tests.support.stress.joined import joined

pytestmark = [pytest.mark.stress, pytest.mark.every_link]

PROMPTS = count(200, 4000)  # over each kind of transport
RAW_PROMPTS = count(200, 10_000)
AT_ONCE = 100
SEED = 20_261_121


class RandomAgent(PlainAgent):
    """Handles a prompt in a random number of steps or endlessly, and reacts to a cancellation in different ways.

    Attributes:
        running: the number of prompts in flight.
    """

    def __init__(self, client: Any) -> None:
        super().__init__(client)
        self.random = random.Random(SEED)
        self.running = 0

    async def session_prompt(self, request: PromptRequest, /) -> PromptResponse:
        self.running += 1
        try:
            return await self._turn(request, self.random.randrange(8))
        finally:
            self.running -= 1

    async def _turn(self, request: PromptRequest, behaviour: int) -> PromptResponse:
        try:
            for _ in range(self.random.randrange(6)):
                await asyncio.sleep(0)
            if behaviour < 2:
                await self.client.session_update(session_id=request.session_id, update=chunk("x"))
            if behaviour == 7:
                await asyncio.Event().wait()
        except asyncio.CancelledError:
            if behaviour == 0:
                await asyncio.sleep(0)
                return PromptResponse(stop_reason="refusal")
            if behaviour == 1:
                raise ZeroDivisionError from None
            raise
        return PromptResponse(stop_reason="end_turn")


def count_responses(frames: list[bytes]) -> Counter[Any]:
    """Return the number of responses to each id."""
    messages = [json.loads(frame) for frame in frames]
    return Counter(message["id"] for message in messages if "method" not in message)


async def prompt_and_cancel(agent: RemoteAgent, session: str, chance: random.Random) -> str:
    """Send a prompt, cancel it in a random way, and return its stop reason unless it raises."""
    how = chance.randrange(4)
    call = agent.session_prompt(session_id=session, prompt=[])
    if how == 0:
        async with asyncio.timeout(0.0005 * chance.randrange(4)):
            return str((await call).stop_reason)
    task = asyncio.create_task(call)
    # At least once, so that the prompt is sent before its cancellation.
    for _ in range(1 + chance.randrange(8)):
        await asyncio.sleep(0)
    if how == 1:
        task.cancel()
    elif how == 2:
        await agent.session_cancel(session_id=session)
    else:
        # Cancel by id. The caller doesn't know the id of its request, so this may cancel another prompt.
        await asyncio.sleep(0)
        await agent.ext_notification("$/cancel_request", {"requestId": chance.randrange(PROMPTS)})
        await agent.session_cancel(session_id=session)
    return str((await task).stop_reason)


async def test_every_prompt_gets_one_response_even_if_it_is_cancelled_at_random(
    link: Link, caplog: pytest.LogCaptureFixture
) -> None:
    """Counts the responses in the frames that the agent sends."""
    caplog.set_level("CRITICAL")
    chance = random.Random(SEED)
    sent_by_agent: list[bytes] = []
    sent_by_client: list[bytes] = []
    outcomes: Counter[str] = Counter()
    agents: list[RandomAgent] = []

    def make_agent(client: Any) -> RandomAgent:
        agents.append(RandomAgent(client))
        return agents[0]

    async def turn(agent: RemoteAgent, session: str) -> None:
        try:
            outcomes[await prompt_and_cancel(agent, session, chance)] += 1
        except asyncio.CancelledError:
            outcomes["task cancelled"] += 1
        except TimeoutError:
            outcomes["timeout"] += 1
        except RequestCancelled:
            outcomes["request cancelled"] += 1
        except RequestError as error:
            outcomes[str(error.code)] += 1

    def record(frames: list[bytes]) -> Options:
        def note(direction: str, frame: bytes, _: float) -> None:
            if direction == "out":
                frames.append(frame)

        return Options(on_frame=note, eof_grace=0.05)

    options = record(sent_by_agent), record(sent_by_client)
    async with joined(link, make_agent, PlainClient, *options) as (serving, calling):
        for start in range(0, PROMPTS, AT_ONCE):
            await asyncio.gather(*(turn(calling.remote, f"s{number}") for number in range(start, start + AT_ONCE)))
            await until_all_answered(calling.remote, agents[0])
        prompts = [json.loads(frame)["id"] for frame in sent_by_client if b'"session/prompt"' in frame]
        responses = count_responses(sent_by_agent)
        assert [responses[id] for id in prompts] == [1] * len(prompts)
        assert len(prompts) == sum(outcomes.values()) >= PROMPTS
        assert {"end_turn", "cancelled", "task cancelled", "timeout"} <= set(outcomes), outcomes
        assert is_idle(calling)
        assert is_idle(serving)


async def until_all_answered(agent: RemoteAgent, handler: RandomAgent) -> None:
    """Wait until no prompt is in flight and the responses to cancelled calls have been received, too."""
    while handler.running:
        await asyncio.sleep(0)
    # The response to this request is sent after all others.
    with pytest.raises(RequestError):
        await agent.ext_request("_last")


async def test_cancelled_prompts_leave_no_tasks_or_descriptors_in_the_process_of_the_agent() -> None:
    chance = random.Random(SEED)
    command = (sys.executable, "-m", "tests.support.stress.our_agent")
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
