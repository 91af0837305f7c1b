"""Prompts that are cancelled in every way there is, at random: one answer each on the wire, and nothing left behind."""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from typing import Any

import pytest

from acp_bindings.v1 import PromptRequest, PromptResponse, RemoteAgent
from acp_bindings.v1.connect import AGENT_SIDE, CLIENT_SIDE
from acp_runtime import RequestCancelled, RequestError
from acp_runtime.connection import Connection, run
from acp_runtime.connection.load import Load
from acp_runtime.options import Options
from tests.support.runtime.peer import Link, PlainAgent, PlainClient, chunk, line, prompt, serving
from tests.support.scale import count

pytestmark = pytest.mark.stress

PROMPTS = count(1000, 4000)  # On each of three kinds of link.
RAW_PROMPTS = count(1000, 10_000)
AT_ONCE = 100
SEED = 20_261_121


class Moody(PlainAgent):
    """Takes a random number of steps over a prompt, or an endless one, and doesn't always take a cancellation well."""

    def __init__(self, client: Any) -> None:
        super().__init__(client)
        self.chance = random.Random(SEED)
        self.running = 0

    async def session_prompt(self, request: PromptRequest, /) -> PromptResponse:
        self.running += 1
        try:
            return await self._turn(request, self.chance.randrange(8))
        finally:
            self.running -= 1

    async def _turn(self, request: PromptRequest, mood: int) -> PromptResponse:
        try:
            for _ in range(self.chance.randrange(6)):
                await asyncio.sleep(0)
            if mood < 2:
                await self.client.session_update(session_id=request.session_id, update=chunk("x"))
            if mood == 7:
                await asyncio.Event().wait()
        except asyncio.CancelledError:
            if mood == 0:
                await asyncio.sleep(0)
                return PromptResponse(stop_reason="refusal")
            if mood == 1:
                raise ZeroDivisionError from None
            raise
        return PromptResponse(stop_reason="end_turn")


def answers_by_id(frames: list[bytes]) -> Counter[Any]:
    messages = [json.loads(frame) for frame in frames]
    return Counter(message["id"] for message in messages if "method" not in message)


async def cancelled_somehow(agent: RemoteAgent, session: str, chance: random.Random) -> str:
    """A prompt and what may cancel it; gives how it ended unless that was by an exception."""
    how = chance.randrange(4)
    call = agent.session_prompt(session_id=session, prompt=[])
    if how == 0:
        async with asyncio.timeout(0.0005 * chance.randrange(4)):
            return str((await call).stop_reason)
    task = asyncio.create_task(call)
    # At least once, or a cancel would be on the wire before the prompt that it is meant for.
    for _ in range(1 + chance.randrange(8)):
        await asyncio.sleep(0)
    if how == 1:
        task.cancel()
    elif how == 2:
        await agent.session_cancel(session_id=session)
    else:
        # As from an editor that cancels by hand. The id isn't known to the caller, so it is any of those in use.
        await asyncio.sleep(0)
        await agent.ext_notification("$/cancel_request", {"requestId": chance.randrange(PROMPTS)})
        await agent.session_cancel(session_id=session)
    return str((await task).stop_reason)


async def test_every_prompt_has_one_answer_on_the_wire_however_it_is_cancelled(
    link: Link, caplog: pytest.LogCaptureFixture
) -> None:
    """Both sides are ours; what the agent writes is counted, frame by frame."""
    caplog.set_level("CRITICAL")
    chance = random.Random(SEED)
    sent: list[bytes] = []
    received: list[bytes] = []
    ends: Counter[str] = Counter()
    agents: list[Moody] = []

    def moody(client: Any) -> Moody:
        agents.append(Moody(client))
        return agents[0]

    async def turn(agent: RemoteAgent, session: str) -> None:
        try:
            ends[await cancelled_somehow(agent, session, chance)] += 1
        except asyncio.CancelledError:
            ends["task cancelled"] += 1
        except TimeoutError:
            ends["timeout"] += 1
        except RequestCancelled:
            ends["request cancelled"] += 1
        except RequestError as error:
            ends[str(error.code)] += 1

    reader, writer, peer_reader, peer_writer, close = await link()

    def watch(frames: list[bytes]) -> Options:
        return Options(on_frame=lambda direction, frame, _: frames.append(frame) if direction == "out" else None)

    serving = Connection(AGENT_SIDE, moody, reader, writer, watch(sent))
    calling = Connection(CLIENT_SIDE, PlainClient, peer_reader, peer_writer, watch(received))
    running = [asyncio.create_task(run(each)) for each in (serving, calling)]
    try:
        agent: RemoteAgent = calling.remote
        await agent.initialize(protocol_version=1)
        prompts = PROMPTS
        for start in range(0, prompts, AT_ONCE):
            await asyncio.gather(*(turn(agent, f"s{number}") for number in range(start, start + AT_ONCE)))
            # The answer to this comes after those that were given up.
            await _quiet(agent, agents[0])
        asked = [json.loads(frame)["id"] for frame in received if b'"session/prompt"' in frame]
        answers = answers_by_id(sent)
        assert [answers[id] for id in asked] == [1] * len(asked)
        assert len(asked) == sum(ends.values()) >= prompts
        assert {"end_turn", "cancelled", "task cancelled", "timeout"} <= set(ends), ends
        assert_nothing_is_kept(calling)
        assert_nothing_is_kept(serving)
    finally:
        peer_writer.abort()
        writer.abort()
        await asyncio.gather(*running)
        close()


def assert_nothing_is_kept(connection: Connection) -> None:
    """Of what has ended there is no call, request, task or queue left, and nothing that counts against the marks."""
    assert connection.load == Load()


async def _quiet(agent: RemoteAgent, moody: Moody) -> None:
    while moody.running:
        await asyncio.sleep(0)
    with pytest.raises(RequestError):
        await agent.ext_request("_quiet")


async def test_a_raw_client_that_cancels_at_random_gets_one_answer_for_each_prompt(
    link: Link, caplog: pytest.LogCaptureFixture
) -> None:
    """Bytes from a peer that is not ours: cancelled before, between and after, twice, by ids that are none."""
    caplog.set_level("CRITICAL")
    chance = random.Random(SEED)

    def cancels(number: int) -> list[bytes]:
        by_id = line({"method": "$/cancel_request", "params": {"requestId": number}})
        by_text = line({"method": "$/cancel_request", "params": {"requestId": str(number)}})
        by_session = line({"method": "session/cancel", "params": {"sessionId": f"s{number % 50}"}})
        malformed = line({"method": "$/cancel_request", "params": {"requestId": [number]}})
        return chance.choices([by_id, by_text, by_session, malformed], k=chance.randrange(4))

    async with serving(link, Moody) as peer:
        answers: Counter[Any] = Counter()
        for start in range(0, RAW_PROMPTS, AT_ONCE):
            numbers = range(start, start + AT_ONCE)
            lines = [line(prompt(number, f"s{number % 50}")) for number in numbers]
            lines += [each for number in numbers for each in cancels(number)]
            chance.shuffle(lines)
            # In the end all of them, so that none goes on for ever.
            lines += [line({"method": "$/cancel_request", "params": {"requestId": number}}) for number in numbers]
            await peer.send(b"".join(lines))
            while answers.total() < start + AT_ONCE:
                message = await peer.receive()
                if "method" not in message:
                    answers[message["id"]] += 1
        assert await peer.until_quiet() == []
    assert answers == Counter(range(RAW_PROMPTS))


async def test_prompts_that_are_cancelled_in_a_real_process_leave_nothing_there() -> None:
    """The agent says itself how many tasks and descriptors it has."""
    import sys

    from acp_bindings.v1 import ContentBlockText, spawn_agent

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

        for start in range(0, count(300, 5000), AT_ONCE):
            await asyncio.gather(*(turn(f"s{number}") for number in range(start, start + AT_ONCE)))
        left = await agent.ext_request("_left")
        while left != before:
            left = await agent.ext_request("_left")
