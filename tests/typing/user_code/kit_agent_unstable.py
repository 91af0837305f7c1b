"""The agent of the README with the unstable profile of version 1."""

from __future__ import annotations

from acp_bindings import v1, v1_unstable
from acp_kit.agent import Sessions, Turn
from acp_kit.content import to_text


class EchoAgent(v1_unstable.Agent):
    def __init__(self, client: v1_unstable.RemoteClient) -> None:
        self.client = client
        self.sessions = Sessions()

    async def initialize(self, request: v1_unstable.InitializeRequest) -> v1_unstable.InitializeResponse:
        return v1_unstable.InitializeResponse(protocol_version=1)

    async def session_new(self, request: v1_unstable.NewSessionRequest) -> v1_unstable.NewSessionResponse:
        session = self.sessions.create(self.client, cwd=request.cwd)
        return v1_unstable.NewSessionResponse(session_id=session.id)

    async def session_prompt(self, request: v1_unstable.PromptRequest) -> v1_unstable.PromptResponse:
        async with self.sessions[request.session_id].turn(request.prompt) as turn:
            await turn.say(to_text(request.prompt))
            await turn.say(request.prompt[0])
        return turn.response


def response_of(turn: Turn) -> v1.PromptResponse:
    return turn.response


def unstable_response_of(turn: Turn[v1_unstable.PromptResponse]) -> v1_unstable.PromptResponse:
    return turn.response
