"""The client, written with the official Python SDK. `programs/client_tasks.py` says what it does."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import Any

import acp
from acp.schema import TextContentBlock

from benchmarks.programs import client_tasks

# The SDK's default for agents. For clients its default is asyncio's, 64 KiB.
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

    async def initialize(self) -> None:
        await self.agent.initialize(protocol_version=1)

    async def open_session(self) -> str:
        return (await self.agent.new_session(cwd="/tmp", mcp_servers=[])).session_id

    async def prompt(self, session: str, count: int, size: int) -> None:
        await self.agent.prompt(session_id=session, prompt=[TextContentBlock(type="text", text=f"{count} {size}")])


async def connect(stack: AsyncExitStack, command: list[str]) -> CountingClient:
    client = CountingClient()
    client.agent, _ = await stack.enter_async_context(
        acp.spawn_agent_process(client, *command, transport_kwargs={"limit": LIMIT})
    )
    return client


if __name__ == "__main__":
    client_tasks.main(connect)
