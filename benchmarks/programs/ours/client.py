"""The client, written with this package: `client.py <task as JSON> <agent> [<argument> ...]` prints what it measured.

`benchmarks/programs/README.md` says what a task is. The clients written with other SDKs do the same.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
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
        """Have that many updates streamed, and wait until they are handled."""
        if not count:
            return
        self.done.clear()
        self.wanted = self.handled + count
        await self.prompt(session, count, size)
        await self.done.wait()


async def updates(client: CountingClient, task: dict[str, Any]) -> float:
    session = await client.open_session()
    await client.stream(session, task["warm"], 40)
    started = time.perf_counter()
    await client.stream(session, task["count"], task["size"])
    return time.perf_counter() - started


async def prompts(client: CountingClient, task: dict[str, Any]) -> float:
    sessions = [await client.open_session() for _ in range(task["in_flight"])]

    async def one_after_the_other(session: str, count: int) -> None:
        for _ in range(count):
            await client.prompt(session, 0, 0)

    await asyncio.gather(*(one_after_the_other(each, task["warm"] // len(sessions)) for each in sessions))
    started = time.perf_counter()
    await asyncio.gather(*(one_after_the_other(each, task["count"] // len(sessions)) for each in sessions))
    return time.perf_counter() - started


async def main(task: dict[str, Any], command: list[str]) -> None:
    clients: list[CountingClient] = []

    def factory(agent: RemoteAgent) -> CountingClient:
        clients.append(CountingClient(agent))
        return clients[-1]

    async with spawn_agent(factory, *command) as agent:
        await agent.initialize(protocol_version=1)
        seconds = await (prompts if "in_flight" in task else updates)(clients[0], task)
    print(json.dumps({"seconds": seconds}))


if __name__ == "__main__":
    asyncio.run(main(json.loads(sys.argv[1]), sys.argv[2:]))
