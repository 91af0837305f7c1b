"""Rules 16 and 18 together: both sides wait for each other in every possible way, with tiny high-water marks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest

from acp_bindings.v1 import (
    ContentBlockText,
    PromptRequest,
    PromptResponse,
    RemoteAgent,
    RemoteClient,
    SessionNotification,
)
from acp_bindings.v1.connecting import AGENT_SIDE, CLIENT_SIDE
from acp_runtime.connection import Connection
from acp_runtime.options import Options
from tests.support.runtime.peer import LINKS, Link, PlainAgent, PlainClient, chunk, run_over, text_of
from tests.support.scale import count, sample

pytestmark = [pytest.mark.stress, pytest.mark.every_link]

ROUNDS = count(25, 1000)
DEPTH = 20
LARGE = "x" * 20_000
TINY = {"high_water_messages": 2, "high_water_bytes": 1000, "write_high_water_bytes": 100}
NEVER_FLOODED = 1_000_000

MARKS = {
    "default marks": {},
    "tiny marks": {**TINY, "flood_factor": NEVER_FLOODED},
    "tiny marks for messages": {"high_water_messages": 1, "flood_factor": NEVER_FLOODED},
    "tiny marks for writes": {"write_high_water_bytes": 0},
}


@asynccontextmanager
async def joined(
    link: Link, agent: Callable[[Any], Any], client: Callable[[Any], Any], agents: Options, clients: Options
) -> AsyncIterator[tuple[Connection, Connection]]:
    """Run an agent and a client, each with its options, and yield both connections after `initialize`."""
    async with link("agent", agents.flush_deadline) as (reader, writer, peer_reader, peer_writer):
        serving = Connection(AGENT_SIDE, agent, reader, writer, agents)
        calling = Connection(CLIENT_SIDE, client, peer_reader, peer_writer, clients)
        running = [asyncio.create_task(run_over(*end)) for end in ((reader, serving), (peer_reader, calling))]
        try:
            await calling.remote.initialize(protocol_version=1)
            yield serving, calling
        finally:
            peer_writer.abort()
            writer.abort()
            await asyncio.gather(*running)


Remotes = Callable[[Callable[[Any], PlainAgent], Callable[[Any], PlainClient]], AbstractAsyncContextManager[Any]]


@pytest.fixture(params=sample([(link, marks) for marks in MARKS for link in LINKS], 2), ids=", ".join)
def remotes(request: pytest.FixtureRequest) -> Remotes:
    """Return a function that connects both sides, and yields their proxies for each other."""
    link, marks = request.param
    options = Options(eof_grace=0.05, **MARKS[marks])  # type: ignore[arg-type]

    @asynccontextmanager
    async def connected(agent: Any, client: Any) -> AsyncIterator[tuple[RemoteAgent, RemoteClient]]:
        async with joined(LINKS[link], agent, client, options, options) as (serving, calling):
            yield calling.remote, serving.remote

    return connected


class EchoingAgent(PlainAgent):
    async def ext_request(self, method: str, params: Any) -> Any:
        await asyncio.sleep(0)
        return params or LARGE


class EchoingClient(PlainClient):
    async def ext_request(self, method: str, params: Any) -> Any:
        await asyncio.sleep(0)
        return params or LARGE


@pytest.mark.parametrize("params", [LARGE, None], ids=["large", "small"])
async def test_large_responses_to_large_and_small_requests_in_both_directions_do_not_deadlock(
    remotes: Remotes, params: str | None
) -> None:
    async with remotes(EchoingAgent, EchoingClient) as both:
        calls = [remote.ext_request("_echo", params) for _ in range(ROUNDS) for remote in both]
        assert await asyncio.gather(*calls) == [LARGE] * 2 * ROUNDS


async def test_nested_calls_in_both_directions_do_not_deadlock(remotes: Remotes) -> None:
    """The handlers of both sides call each other in the same session, with updates in between."""

    class Agent(PlainAgent):
        async def session_prompt(self, request: PromptRequest, /) -> PromptResponse:
            block: Any = request.prompt[0]
            await self.client.session_update(session_id=request.session_id, update=chunk(block.text))
            if int(block.text):
                params = {"sessionId": request.session_id, "depth": int(block.text) - 1, "data": LARGE[:3000]}
                await self.client.ext_request("_deeper", params)
            return PromptResponse(stop_reason="end_turn")

    class Client(PlainClient):
        async def ext_request(self, method: str, params: Any) -> Any:
            text = [ContentBlockText(text=str(params["depth"]))]
            await self.agent.session_prompt(session_id=params["sessionId"], prompt=text)
            updates[params["sessionId"]].append("returned")
            return None

        async def session_update(self, notification: SessionNotification, /) -> None:
            await asyncio.sleep(0)
            updates[notification.session_id].append(text_of(notification))

    sessions = [f"s{n}" for n in range(10)]
    updates: dict[str, list[str]] = {session: [] for session in sessions}
    async with remotes(Agent, Client) as (agent, _):
        top = [ContentBlockText(text=str(DEPTH))]
        await asyncio.gather(*(agent.session_prompt(session_id=session, prompt=top) for session in sessions))
    expected = [str(n) for n in range(DEPTH, -1, -1)] + ["returned"] * DEPTH
    assert all(texts == expected for texts in updates.values())
