"""A client and an agent of the official SDK, with the one import changed."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from typing import Any, assert_type

from acp import Agent, Client, InitializeResponse, PromptResponse, RequestError
from acp.schema import (
    AgentMessageChunk,
    AllowedOutcome,
    PermissionOption,
    RequestPermissionResponse,
    TextContentBlock,
    ToolCallUpdate,
)

from acp_kit.official import (
    AgentSideConnection,
    ClientSideConnection,
    connect_to_agent,
    run_agent,
    spawn_agent_process,
    spawn_client_process,
)


class AllowingClient(Client):
    agent: Agent

    def on_connect(self, conn: Agent) -> None:
        self.agent = conn

    async def session_update(self, session_id: str, update: Any, **kwargs: Any) -> None:
        self.last = session_id, update

    async def request_permission(
        self, session_id: str, tool_call: ToolCallUpdate, options: list[PermissionOption], **kwargs: Any
    ) -> RequestPermissionResponse:
        return RequestPermissionResponse(outcome=AllowedOutcome(option_id=options[0].option_id, outcome="selected"))

    async def ext_method(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        raise RequestError.method_not_found(method)


async def start(client: Client) -> str:
    async with spawn_agent_process(client, sys.executable, "agent.py", env={"KEY": "value"}) as (agent, process):
        assert_type(agent, ClientSideConnection)
        assert_type(await agent.initialize(protocol_version=1), InitializeResponse)
        session = await agent.new_session(cwd="/", mcp_servers=[])
        block = TextContentBlock(type="text", text="Hello")
        response = await agent.prompt(session_id=session.session_id, prompt=[block])
        assert_type(response, PromptResponse)
        assert_type(process.returncode, int | None)
        return response.stop_reason


async def serve(agent: Agent, make_agent: Callable[[Client], Agent], host: str) -> None:
    reader, writer = await asyncio.open_connection(host, 1234)
    connection = AgentSideConnection(make_agent, writer, reader, use_unstable_protocol=True)
    text = TextContentBlock(type="text", text="Hello")
    await connection.session_update("1", AgentMessageChunk(session_update="agent_message_chunk", content=text))
    await connection.close()
    async with spawn_client_process(agent, "editor") as (_, process):
        await process.wait()
    await run_agent(agent, use_unstable_protocol=True)


async def connect(client: Client, host: str) -> None:
    reader, writer = await asyncio.open_connection(host, 1234)
    async with connect_to_agent(client, writer, reader) as agent:
        await agent.cancel(session_id="1")
