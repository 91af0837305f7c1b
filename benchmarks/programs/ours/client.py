"""The client, written with this package: `client.py <task as JSON> <agent> [<argument> ...]` prints its measurements.

The tasks are, each with `warm` untimed messages before the `count` timed ones:
* `updates`: receive updates with `size` characters;
* `prompts`: send prompts in `in_flight` sessions at a time;
* `agents`: receive updates from each of that many agents.
The clients written with other SDKs do the same.
"""

from __future__ import annotations

import asyncio
import json
import resource
import statistics
import sys
import time
from contextlib import AsyncExitStack
from typing import Any

from acp_bindings.v1 import (
    Client,
    ContentBlockText,
    RemoteAgent,
    RequestPermissionRequest,
    RequestPermissionResponse,
    SessionNotification,
    spawn_agent,
)


class CountingClient(Client):
    def __init__(self, agent: RemoteAgent) -> None:
        self.agent = agent
        self.handled = 0
        self.wanted = 0
        self.done = asyncio.Event()

    async def session_update(self, notification: SessionNotification) -> None:
        self.handled += 1
        if self.handled == self.wanted:
            self.done.set()

    async def session_request_permission(self, request: RequestPermissionRequest) -> RequestPermissionResponse:
        raise NotImplementedError

    async def open_session(self) -> str:
        return (await self.agent.session_new(cwd="/tmp", mcp_servers=[])).session_id

    async def prompt(self, session: str, count: int, size: int) -> None:
        await self.agent.session_prompt(session_id=session, prompt=[ContentBlockText(text=f"{count} {size}")])

    async def stream(self, session: str, count: int, size: int) -> None:
        """Let the agent stream updates, and wait until they are handled."""
        if not count:
            return
        self.done.clear()
        self.wanted = self.handled + count
        await self.prompt(session, count, size)
        await self.done.wait()


async def connect(stack: AsyncExitStack, command: list[str]) -> CountingClient:
    clients: list[CountingClient] = []

    def factory(agent: RemoteAgent) -> CountingClient:
        clients.append(CountingClient(agent))
        return clients[0]

    await stack.enter_async_context(spawn_agent(factory, *command))
    return clients[0]


async def updates(stack: AsyncExitStack, command: list[str], task: dict[str, Any]) -> dict[str, float]:
    client = await connect(stack, command)
    await client.agent.initialize(protocol_version=1)
    session = await client.open_session()
    await client.stream(session, task["warm"], 40)
    started = time.perf_counter()
    await client.stream(session, task["count"], task["size"])
    return {"seconds": time.perf_counter() - started}


async def prompts(stack: AsyncExitStack, command: list[str], task: dict[str, Any]) -> dict[str, float]:
    client = await connect(stack, command)
    await client.agent.initialize(protocol_version=1)
    sessions = [await client.open_session() for _ in range(task["in_flight"])]

    async def one_after_the_other(session: str, count: int) -> None:
        for _ in range(count):
            await client.prompt(session, 0, 0)

    await asyncio.gather(*(one_after_the_other(session, task["warm"] // len(sessions)) for session in sessions))
    started = time.perf_counter()
    await asyncio.gather(*(one_after_the_other(session, task["count"] // len(sessions)) for session in sessions))
    return {"seconds": time.perf_counter() - started}


async def agents(stack: AsyncExitStack, command: list[str], task: dict[str, Any]) -> dict[str, float]:
    clients: list[CountingClient] = []
    sessions: list[str] = []

    async def open_sessions(number: int) -> None:
        clients.extend([await connect(stack, command) for _ in range(number)])
        await asyncio.gather(*(client.agent.initialize(protocol_version=1) for client in clients[-number:]))
        sessions.extend(await asyncio.gather(*(client.open_session() for client in clients[-number:])))

    await open_sessions(1)
    one = peak_memory()
    await open_sessions(task["agents"] - 1)
    idle = (peak_memory() - one) / (task["agents"] - 1)

    async def finish(client: CountingClient, session: str, count: int) -> float:
        await client.stream(session, count, 40)
        return time.perf_counter()

    pairs = list(zip(clients, sessions, strict=True))
    await asyncio.gather(*(finish(*pair, task["warm"]) for pair in pairs))
    started = time.perf_counter()
    took = [at - started for at in await asyncio.gather(*(finish(*pair, task["count"]) for pair in pairs))]
    return {"seconds": max(took), "lag": max(took) / statistics.median(took), "idle": idle}


def peak_memory() -> int:
    """Return the peak memory of this process in bytes."""
    try:
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) * 1024
    except OSError:  # not on Linux, where `ru_maxrss` would include the parent's memory at the start of this process
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


async def main(task: dict[str, Any], command: list[str]) -> None:
    async with AsyncExitStack() as stack:
        measured = await {"updates": updates, "prompts": prompts, "agents": agents}[task["do"]](stack, command, task)
    print(json.dumps({**measured, "peak": peak_memory()}))


if __name__ == "__main__":
    asyncio.run(main(json.loads(sys.argv[1]), sys.argv[2:]))
