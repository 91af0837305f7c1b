"""Streams thousands of updates between two processes.

`python -m tests.support.stress.streaming client` prints the measurements as JSON.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from acp_bindings.v1 import (
    ContentBlockText,
    PromptRequest,
    PromptResponse,
    RemoteAgent,
    SessionNotification,
    serve_stdio,
    spawn_agent,
)
from acp_runtime import Options
from tests.support.runtime.peer import PlainAgent, PlainClient, chunk, text_of
from tests.support.scale import count

# The number of updates before memory is measured for the first time.
WARM_UP = count(500, 2000)


@dataclass(frozen=True)
class Load:
    """How much is streamed, and how the client handles it.

    Attributes:
        sessions: the number of sessions that stream at the same time.
        updates: the number of updates of each session.
        slow_every: the handler of every n-th update sleeps; 0 for none.
        reentrant_every: the handler of every n-th update calls the agent; 0 for none.
        high_water_messages: the option of the client.
    """

    sessions: int
    updates: int
    slow_every: int
    reentrant_every: int
    high_water_messages: int

    @classmethod
    def of(cls, arguments: list[str]) -> Load:
        return cls(*map(int, arguments))

    def arguments(self) -> list[str]:
        return [str(value) for value in vars(self).values()]


def peak_memory() -> int:
    """Return the peak memory of this process, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


class StreamingAgent(PlainAgent):
    """Sends as many numbered updates as the prompt says, as fast as the client reads them."""

    async def session_prompt(self, request: PromptRequest, /) -> PromptResponse:
        block: Any = request.prompt[0]
        for number in range(int(block.text)):
            await self.client.session_update(session_id=request.session_id, update=chunk(str(number)))
        return PromptResponse(stop_reason="end_turn")

    async def ext_request(self, method: str, params: Any) -> Any:
        return peak_memory() if method == "_peak_memory" else params


class CountingClient(PlainClient):
    """Checks that the numbers of each session arrive in order, one at a time. Some of its handlers are slow."""

    def __init__(self, agent: RemoteAgent, load: Load) -> None:
        super().__init__(agent)
        self.load = load
        self.counts: dict[str, int] = defaultdict(int)
        self.inside: set[str] = set()

    async def session_update(self, notification: SessionNotification, /) -> None:
        session, number = notification.session_id, int(text_of(notification))
        assert session not in self.inside, "two updates of a session are handled at the same time"
        assert number == self.counts[session], "an update was lost or reordered"
        self.inside.add(session)
        if self.load.slow_every and number % self.load.slow_every == 0:
            await asyncio.sleep(0.001)
        elif self.load.reentrant_every and number % self.load.reentrant_every == 0:
            assert await self.agent.ext_request("_echo", {"sessionId": session, "n": number}) == {
                "sessionId": session,
                "n": number,
            }
        elif number % 3 == 0:
            await asyncio.sleep(0)
        self.counts[session] += 1
        self.inside.discard(session)


async def run_client(load: Load) -> dict[str, Any]:
    """Start the agent, stream in all sessions at the same time, and return the measurements."""
    clients: list[CountingClient] = []

    def factory(agent: RemoteAgent) -> CountingClient:
        clients.append(CountingClient(agent, load))
        return clients[0]

    async def turn(agent: RemoteAgent, session: str, updates: int) -> None:
        await agent.session_prompt(session_id=session, prompt=[ContentBlockText(text=str(updates))])
        # Rule 16: the prompt returns after the last of its updates.
        assert clients[0].counts[session] == updates

    options = Options(high_water_messages=load.high_water_messages)
    command = (sys.executable, "-m", "tests.support.stress.streaming", "agent")
    async with spawn_agent(factory, *command, options=options) as agent:
        await agent.initialize(protocol_version=1)
        await turn(agent, "warm", WARM_UP)
        before = peak_memory(), await agent.ext_request("_peak_memory")
        await asyncio.gather(*(turn(agent, f"s{number}", load.updates) for number in range(load.sessions)))
        growth = peak_memory() - before[0], await agent.ext_request("_peak_memory") - before[1]
    left = asyncio.all_tasks() - {asyncio.current_task()}
    handled = sum(clients[0].counts.values()) - WARM_UP
    return {"client": growth[0], "agent": growth[1], "tasks": len(left), "handled": handled}


if __name__ == "__main__":
    if sys.argv[1] == "agent":
        asyncio.run(serve_stdio(StreamingAgent))
    else:
        sys.stdout.write(json.dumps(asyncio.run(run_client(Load.of(sys.argv[2:])))))
