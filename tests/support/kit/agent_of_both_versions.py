"""An agent that is written for version 1 with the kit, and serves both versions.

The prompt says what it does: `edit` asks for a permission and edits a file, `wait` waits until it is cancelled, and
`fail` fails after a message, anything else is repeated.
"""

from __future__ import annotations

import asyncio

import acp_bindings
from acp_bindings import v1
from acp_kit.agent import Sessions
from acp_kit.content import to_text
from acp_kit.versions import as_v2
from acp_runtime import RequestError

MODES = v1.SessionModeState(
    current_mode_id="ask",
    available_modes=[v1.SessionMode(id="ask", name="Ask"), v1.SessionMode(id="code", name="Code")],
)


class BothVersions(v1.Agent):
    def __init__(self, client: v1.RemoteClient) -> None:
        self.client = client
        self.sessions = Sessions()

    async def initialize(self, request: v1.InitializeRequest) -> v1.InitializeResponse:
        return v1.InitializeResponse(
            protocol_version=1,
            agent_info=v1.Implementation(name="ours", version="1"),
            agent_capabilities=v1.AgentCapabilities(load_session=True),
        )

    async def session_new(self, request: v1.NewSessionRequest) -> v1.NewSessionResponse:
        session = self.sessions.create(self.client, cwd=request.cwd)
        return v1.NewSessionResponse(session_id=session.id, modes=MODES)

    async def session_load(self, request: v1.LoadSessionRequest) -> v1.LoadSessionResponse:
        for kind, text in (
            (v1.SessionUpdateUserMessageChunk, "hello"),
            (v1.SessionUpdateAgentMessageChunk, "hello to you"),
        ):
            update = kind(content=v1.ContentBlockText(text=text))
            await self.client.session_update(session_id=request.session_id, update=update)
        return v1.LoadSessionResponse(modes=MODES)

    async def session_set_mode(self, request: v1.SetSessionModeRequest) -> v1.SetSessionModeResponse:
        return v1.SetSessionModeResponse()

    async def session_prompt(self, request: v1.PromptRequest) -> v1.PromptResponse:
        text = to_text(request.prompt)
        async with self.sessions[request.session_id].turn() as turn:
            await turn.say(text)
            if text == "edit":
                async with turn.tool_call("Edit x", kind="edit") as call:
                    await call.ask()
                    call.diff("/tmp/x", old="old\n", new="new\n")
            elif text == "wait":
                await asyncio.Event().wait()
            elif text == "fail":
                raise RequestError(-32050, "The model has gone")
        return turn.response


if __name__ == "__main__":
    asyncio.run(acp_bindings.serve_stdio(v1=BothVersions, v2_draft=as_v2(BothVersions)))
