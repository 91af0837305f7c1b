"""The client, written with the official Python SDK. `programs/ours/client.py` is the same one with this package."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from typing import Any

import acp

# What the SDK gives agents by default; asyncio's own 64 KiB is what it gives clients.
LIMIT = 50 * 1024 * 1024


class CountingClient(acp.Client):
    agent: acp.Agent

    def __init__(self) -> None:
        self.handled = 0
        self.wanted = 0
        self.done = asyncio.Event()

    def on_connect(self, conn: acp.Agent) -> None:
        self.agent = conn

    async def session_update(self, session_id: str, update: Any, **params: Any) -> None:
        self.handled += 1
        if self.handled == self.wanted:
            self.done.set()

    async def open_session(self) -> str:
        return (await self.agent.new_session(cwd="/tmp", mcp_servers=[])).session_id

    async def prompt(self, session: str, count: int, size: int) -> None:
        await self.agent.prompt(session_id=session, prompt=[acp.text_block(f"{count} {size}")])

    async def stream(self, session: str, count: int, size: int) -> None:
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
    client = CountingClient()
    async with acp.spawn_agent_process(client, *command, transport_kwargs={"limit": LIMIT}) as (agent, _):
        await agent.initialize(protocol_version=1)
        seconds = await (prompts if "in_flight" in task else updates)(client, task)
    print(json.dumps({"seconds": seconds}))


if __name__ == "__main__":
    asyncio.run(main(json.loads(sys.argv[1]), sys.argv[2:]))
