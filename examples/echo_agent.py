"""A minimal agent that repeats each prompt. `python examples/echo_agent.py` speaks ACP on stdin and stdout."""

import asyncio

from acp_bindings import v1
from acp_kit.agent import Sessions
from acp_kit.content import to_text


class EchoAgent(v1.Agent):
    def __init__(self, client: v1.RemoteClient) -> None:
        self.client = client
        self.sessions = Sessions()

    async def initialize(self, request: v1.InitializeRequest) -> v1.InitializeResponse:
        return v1.InitializeResponse(protocol_version=1)

    async def session_new(self, request: v1.NewSessionRequest) -> v1.NewSessionResponse:
        session = self.sessions.create(self.client, cwd=request.cwd)
        return v1.NewSessionResponse(session_id=session.id)

    async def session_prompt(self, request: v1.PromptRequest) -> v1.PromptResponse:
        async with self.sessions[request.session_id].turn(request.prompt) as turn:
            await turn.say(to_text(request.prompt))
        return turn.response


if __name__ == "__main__":
    asyncio.run(v1.serve_stdio(EchoAgent))
