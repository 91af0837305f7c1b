"""A client to which an agent in another process streams thousands of updates.

`python -m tests.stress.streaming <n> <m>`: the handler of every n-th update of a session sleeps,
that of every m-th one calls the agent; 0 for none. It prints the measurements as JSON.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import defaultdict
from typing import Any

from acp_bindings.v1 import ContentBlockText, RemoteAgent, SessionNotification, spawn_agent
from acp_runtime import Options
from tests.support.runtime.obedient_agent import peak_memory
from tests.support.runtime.peer import PlainClient, text_of
from tests.support.scale import count

# The number of updates before memory is measured for the first time.
WARM_UP = count(500, 2000)
SESSIONS, UPDATES = 20, count(100, 5000)


class CountingClient(PlainClient):
    """Checks that the numbers of each session arrive in order, one at a time. Some of its handlers are slow."""

    def __init__(self, agent: RemoteAgent, slow_every: int, reentrant_every: int) -> None:
        super().__init__(agent)
        self.slow_every = slow_every
        self.reentrant_every = reentrant_every
        self.counts: dict[str, int] = defaultdict(int)
        self.inside: set[str] = set()

    async def session_update(self, notification: SessionNotification, /) -> None:
        session, number = notification.session_id, int(text_of(notification))
        assert session not in self.inside, "two updates of a session are handled at the same time"
        assert number == self.counts[session], "an update was lost or reordered"
        self.inside.add(session)
        if self.slow_every and number % self.slow_every == 0:
            await asyncio.sleep(0.001)
        elif self.reentrant_every and number % self.reentrant_every == 0:
            echoed = {"sessionId": session, "n": number}
            assert await self.agent.ext_request("_echo", echoed) == echoed
        elif number % 3 == 0:
            await asyncio.sleep(0)
        self.counts[session] += 1
        self.inside.discard(session)


async def run_client(slow_every: int, reentrant_every: int) -> dict[str, Any]:
    """Start the agent, stream in all sessions at the same time, and return the measurements."""

    async def turn(agent: RemoteAgent, session: str, updates: int) -> None:
        await agent.session_prompt(session_id=session, prompt=[ContentBlockText(text=f"stream {updates}")])
        # Rule 16: the prompt returns after the last of its updates.
        assert agent.handler.counts[session] == updates

    command = (sys.executable, "-m", "tests.support.runtime.obedient_agent")
    options = Options(high_water_messages=1000)
    async with spawn_agent(
        lambda agent: CountingClient(agent, slow_every, reentrant_every), *command, options=options
    ) as agent:
        await agent.initialize(protocol_version=1)
        await turn(agent, "warm", WARM_UP)
        before = peak_memory(), await agent.ext_request("_peak_memory")
        await asyncio.gather(*(turn(agent, f"s{number}", UPDATES) for number in range(SESSIONS)))
        growth = peak_memory() - before[0], await agent.ext_request("_peak_memory") - before[1]
    left = asyncio.all_tasks() - {asyncio.current_task()}
    return {"client": growth[0], "agent": growth[1], "tasks": len(left)}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asyncio.run(run_client(int(sys.argv[1]), int(sys.argv[2])))))
