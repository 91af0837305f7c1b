"""The client, written with this package. `programs/client_tasks.py` says what it does."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

from acp_bindings.v1 import (
    Client,
    ContentBlockText,
    RemoteAgent,
    RequestPermissionRequest,
    RequestPermissionResponse,
    SessionNotification,
    spawn_agent,
)
from benchmarks.programs import client_tasks


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

    async def initialize(self) -> None:
        await self.agent.initialize(protocol_version=1)

    async def open_session(self) -> str:
        return (await self.agent.session_new(cwd="/tmp", mcp_servers=[])).session_id

    async def prompt(self, session: str, count: int, size: int) -> None:
        await self.agent.session_prompt(session_id=session, prompt=[ContentBlockText(text=f"{count} {size}")])


async def connect(stack: AsyncExitStack, command: list[str]) -> CountingClient:
    clients: list[CountingClient] = []

    def factory(agent: RemoteAgent) -> CountingClient:
        clients.append(CountingClient(agent))
        return clients[0]

    await stack.enter_async_context(spawn_agent(factory, *command))
    return clients[0]


if __name__ == "__main__":
    client_tasks.main(connect)
