"""A turn of an agent of the unstable profile of version 2."""

from acp_bindings import v2_draft_unstable as v2
from acp_kit.v2 import Session


class Turns:
    def __init__(self, client: v2.RemoteClient) -> None:
        self.session = Session(client, "session-1", cwd="/work")

    async def work(self) -> v2.SessionUpdateStateUpdateIdle | None:
        content = v2.ContentBlockText(text="Hello")
        await self.session.send(v2.SessionUpdateAgentMessageChunk(message_id="message-1", content=content))
        return v2.SessionUpdateStateUpdateIdleMaxTokens()

    async def session_prompt(self, request: v2.PromptRequest) -> v2.PromptResponse:
        return self.session.prompt(request.prompt, self.work())
