"""An agent that writes the file whose name it is prompted with. Argument: the file for the log of its messages."""

from __future__ import annotations

import asyncio
import sys

from acp_bindings.v1 import (
    Agent,
    InitializeRequest,
    InitializeResponse,
    NewSessionRequest,
    NewSessionResponse,
    PromptRequest,
    PromptResponse,
    RemoteClient,
    serve_stdio,
)
from acp_kit.agent import Sessions
from acp_kit.content import to_text
from acp_kit.frame_log import FrameLog
from acp_runtime import Options, RequestError


class WritingAgent(Agent):
    def __init__(self, client: RemoteClient) -> None:
        self.client = client
        self.sessions = Sessions()

    async def initialize(self, request: InitializeRequest) -> InitializeResponse:
        return InitializeResponse(protocol_version=1)

    async def session_new(self, request: NewSessionRequest) -> NewSessionResponse:
        return NewSessionResponse(session_id=self.sessions.create(self.client, cwd=request.cwd, session_id="new").id)

    async def session_prompt(self, request: PromptRequest) -> PromptResponse:
        name = to_text(request.prompt)
        async with self.sessions[request.session_id].turn(request.prompt) as turn:
            try:
                async with turn.tool_call(f"Write {name}", kind="edit", locations=[name]) as call:
                    await call.change(name, "new\n")
                    await call.ask()
                    await turn.write_text_file(name, "new\n")
            except RequestError as error:
                await turn.say(f"Error: {error}")
        return turn.response


if __name__ == "__main__":
    with FrameLog(sys.argv[1]) as log:
        asyncio.run(serve_stdio(WritingAgent, options=Options(on_frame=log)))
