"""The agent, written with this package. A prompt's text is the number of updates to stream and their size.

It is served on stdio; with the argument `remote`, over WebSocket and HTTP at the port that it prints.
"""

from __future__ import annotations

import asyncio
import socket
import sys

from acp_bindings.v1 import (
    Agent,
    ContentBlockText,
    InitializeRequest,
    InitializeResponse,
    NewSessionRequest,
    NewSessionResponse,
    PromptRequest,
    PromptResponse,
    RemoteClient,
    SessionUpdateAgentMessageChunk,
    serve,
    serve_stdio,
)


def text_of(size: int) -> str:
    """Return this many characters of ordinary lines."""
    line = "a line of an ordinary file, with its end\n"
    return (line * (size // len(line) + 1))[:size]


class StreamingAgent(Agent):
    def __init__(self, client: RemoteClient) -> None:
        self.client = client
        self.sessions = 0

    async def initialize(self, request: InitializeRequest) -> InitializeResponse:
        return InitializeResponse(protocol_version=request.protocol_version)

    async def session_new(self, request: NewSessionRequest) -> NewSessionResponse:
        self.sessions += 1
        return NewSessionResponse(session_id=f"8f14e45f-ceea-467f-a0d1-{self.sessions:012}")

    async def session_prompt(self, request: PromptRequest) -> PromptResponse:
        block = request.prompt[0]
        assert isinstance(block, ContentBlockText)
        count, size = map(int, block.text.split())
        text = text_of(size)
        for _ in range(count):
            await self.client.session_update(
                session_id=request.session_id,
                update=SessionUpdateAgentMessageChunk(content=ContentBlockText(text=text)),
            )
        return PromptResponse(stop_reason="end_turn")


async def serve_remote() -> None:
    from acp_kit.remote import agent_app
    from acp_kit.remote.server.running import serve as serve_on

    app = agent_app(lambda transport, _: serve(StreamingAgent, transport))
    with socket.create_server(("127.0.0.1", 0), backlog=2048) as listener:
        print(listener.getsockname()[1], flush=True)
        await serve_on(app, [listener])


if __name__ == "__main__":
    asyncio.run(serve_remote() if sys.argv[1:] == ["remote"] else serve_stdio(StreamingAgent))
