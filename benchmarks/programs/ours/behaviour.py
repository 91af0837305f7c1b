"""What this package does in the situations of `programs/behaviour.py`, as JSON: `behaviour.py [agent]`."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from acp_bindings import v1
from acp_runtime import Options
from benchmarks.programs import behaviour


class Client(v1.Client):
    def __init__(self, handle: behaviour.Handler) -> None:
        self.handle = handle

    async def session_update(self, notification: v1.SessionNotification) -> None:
        await self.handle(notification.update)

    async def session_request_permission(self, request: v1.RequestPermissionRequest) -> v1.RequestPermissionResponse:
        raise NotImplementedError


class Sdk:
    models: Any = v1
    module = "benchmarks.programs.ours.behaviour"

    @asynccontextmanager
    async def connect(self, handle: behaviour.Handler, *command: str) -> AsyncGenerator[behaviour.Calls]:
        async with v1.spawn_agent(lambda _: Client(handle), *command) as agent:
            await agent.initialize(protocol_version=1)
            await agent.session_new(cwd="/", mcp_servers=[])
            yield {
                "session/new": lambda: agent.session_new(cwd="/", mcp_servers=[]),
                "session/load": lambda: agent.session_load(cwd="/", session_id="s", mcp_servers=[]),
                "session/list": agent.session_list,
                "session/prompt": lambda: agent.session_prompt(
                    session_id="s", prompt=[v1.ContentBlockText(text="hello")]
                ),
            }


class Agent(v1.Agent):
    def __init__(self, client: v1.RemoteClient) -> None:
        self.client = client

    async def initialize(self, request: v1.InitializeRequest) -> v1.InitializeResponse:
        return v1.InitializeResponse(protocol_version=1)

    async def session_new(self, request: v1.NewSessionRequest) -> v1.NewSessionResponse:
        return v1.NewSessionResponse(session_id="s")

    async def session_load(self, request: v1.LoadSessionRequest) -> v1.LoadSessionResponse:
        return None  # type: ignore[return-value]

    async def session_prompt(self, request: v1.PromptRequest) -> v1.PromptResponse:
        block = request.prompt[0]
        assert isinstance(block, v1.ContentBlockText)
        match block.text.split()[0]:
            case "print":
                print("printed", flush=True)
            case "raise":
                raise ValueError("secret")
            case "wait":
                chunk = v1.SessionUpdateAgentMessageChunk(content=v1.ContentBlockText(text=block.text))
                await self.client.session_update(session_id="s", update=chunk)
                await asyncio.Event().wait()
            case "null":
                call = v1.SessionUpdateToolCallUpdate(tool_call_id="c", title=None)
                await self.client.session_update(session_id="s", update=call)
            case _:
                pass
        return v1.PromptResponse(stop_reason="end_turn")


if __name__ == "__main__":
    if sys.argv[1:]:
        asyncio.run(v1.serve_stdio(Agent, options=Options(max_message_bytes=behaviour.LIMIT)))
    else:
        behaviour.main(Sdk())
