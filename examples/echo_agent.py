"""A minimal agent that repeats each prompt. `python examples/echo_agent.py` speaks ACP on stdin and stdout."""

import asyncio

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
    serve_stdio,
)


class EchoAgent(Agent):
    def __init__(self, client: RemoteClient) -> None:
        self.client = client

    async def initialize(self, request: InitializeRequest) -> InitializeResponse:
        return InitializeResponse(protocol_version=1)

    async def session_new(self, request: NewSessionRequest) -> NewSessionResponse:
        return NewSessionResponse(session_id="session-1")

    async def session_prompt(self, request: PromptRequest) -> PromptResponse:
        for block in request.prompt:
            if isinstance(block, ContentBlockText):
                await self.client.session_update(
                    session_id=request.session_id,
                    update=SessionUpdateAgentMessageChunk(content=ContentBlockText(text=block.text)),
                )
        return PromptResponse(stop_reason="end_turn")


if __name__ == "__main__":
    asyncio.run(serve_stdio(EchoAgent))
