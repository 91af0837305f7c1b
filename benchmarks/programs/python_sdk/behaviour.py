"""The same as `programs/ours/behaviour.py`, with the official Python SDK."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import acp
from acp import schema

from benchmarks.programs import behaviour


class Client(acp.Client):
    def __init__(self, handle: behaviour.Handler) -> None:
        self.handle = handle

    async def session_update(self, session_id: str, update: Any, **params: Any) -> None:
        await self.handle(update)


class Sdk:
    models = schema
    module = "benchmarks.programs.python_sdk.behaviour"

    @asynccontextmanager
    async def connect(self, handle: behaviour.Handler, *command: str) -> AsyncGenerator[behaviour.Calls]:
        async with acp.spawn_agent_process(Client(handle), *command) as (agent, _):
            await agent.initialize(protocol_version=1)
            await agent.new_session(cwd="/", mcp_servers=[])
            yield {
                "session/new": lambda: agent.new_session(cwd="/", mcp_servers=[]),
                "session/load": lambda: agent.load_session(cwd="/", session_id="s", mcp_servers=[]),
                "session/list": agent.list_sessions,
                "session/prompt": lambda: agent.prompt(
                    session_id="s", prompt=[schema.TextContentBlock(type="text", text="hello")]
                ),
            }


class Agent(acp.Agent):
    def on_connect(self, conn: acp.Client) -> None:
        self.client = conn

    async def initialize(self, protocol_version: int, **params: Any) -> schema.InitializeResponse:
        return schema.InitializeResponse(protocol_version=1)

    async def new_session(self, cwd: str, **params: Any) -> schema.NewSessionResponse:
        return schema.NewSessionResponse(session_id="s")

    async def load_session(self, cwd: str, session_id: str, **params: Any) -> None:
        return None

    async def prompt(self, prompt: list[Any], session_id: str, **params: Any) -> schema.PromptResponse:
        match prompt[0].text.split()[0]:
            case "print":
                print("printed", flush=True)
            case "raise":
                raise ValueError("secret")
            case "wait":
                content = schema.TextContentBlock(type="text", text=prompt[0].text)
                chunk = schema.AgentMessageChunk(session_update="agent_message_chunk", content=content)
                await self.client.session_update(session_id, chunk)
                await asyncio.Event().wait()
            case "null":
                call = schema.ToolCallProgress(session_update="tool_call_update", tool_call_id="c", title=None)
                await self.client.session_update(session_id, call)
        return schema.PromptResponse(stop_reason="end_turn")


if __name__ == "__main__":
    if sys.argv[1:]:
        asyncio.run(acp.run_agent(Agent(), stdio_buffer_limit_bytes=behaviour.LIMIT))
    else:
        behaviour.main(Sdk())
