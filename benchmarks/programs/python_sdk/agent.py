"""The agent, written with the official Python SDK. It does the same as `programs/ours/agent.py`."""

from __future__ import annotations

import asyncio
import socket
import sys
from typing import Any

import acp
from acp.schema import AgentMessageChunk, TextContentBlock


def text_of(size: int) -> str:
    """Return this many characters of ordinary lines."""
    line = "a line of an ordinary file, with its end\n"
    return (line * (size // len(line) + 1))[:size]


class StreamingAgent(acp.Agent):
    client: acp.Client
    sessions = 0

    def on_connect(self, conn: acp.Client) -> None:
        self.client = conn

    async def initialize(self, protocol_version: int, **params: Any) -> acp.InitializeResponse:
        return acp.InitializeResponse(protocol_version=protocol_version)

    async def new_session(self, cwd: str, **params: Any) -> acp.NewSessionResponse:
        self.sessions += 1
        return acp.NewSessionResponse(session_id=f"8f14e45f-ceea-467f-a0d1-{self.sessions:012}")

    async def prompt(self, session_id: str, prompt: list[Any], **params: Any) -> acp.PromptResponse:
        count, size = map(int, prompt[0].text.split())
        text = text_of(size)
        for _ in range(count):
            content = TextContentBlock(type="text", text=text)
            update = AgentMessageChunk(session_update="agent_message_chunk", content=content)
            await self.client.session_update(session_id, update)
        return acp.PromptResponse(stop_reason="end_turn")


async def serve_remote() -> None:
    import uvicorn
    from acp.http.asgi import create_asgi_app

    config = uvicorn.Config(create_asgi_app(lambda _: StreamingAgent()), log_level="warning", ws="websockets-sansio")
    with socket.create_server(("127.0.0.1", 0), backlog=2048) as listener:
        print(listener.getsockname()[1], flush=True)
        await uvicorn.Server(config).serve([listener])


if __name__ == "__main__":
    asyncio.run(serve_remote() if sys.argv[1:] == ["remote"] else acp.run_agent(StreamingAgent()))
