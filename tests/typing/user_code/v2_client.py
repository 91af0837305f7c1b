"""A client of the draft of version 2."""

from __future__ import annotations

from acp_bindings.v2_draft import (
    Client,
    ClientCapabilities,
    ContentBlockText,
    Implementation,
    InitializeRequest,
    LoginAuthRequest,
    NewSessionRequest,
    RemoteAgent,
    RequestPermissionOutcomeCancelled,
    RequestPermissionRequest,
    RequestPermissionResponse,
    SessionUpdateAgentMessageChunk,
    SessionUpdateOther,
    SessionUpdateStateUpdateIdle,
    UpdateSessionNotification,
)


class Editor(Client):
    def __init__(self, agent: RemoteAgent) -> None:
        self.agent = agent
        self.text = ""

    async def session_update(self, notification: UpdateSessionNotification) -> None:
        update = notification.update
        if isinstance(update, SessionUpdateAgentMessageChunk):
            if isinstance(update.content, ContentBlockText):
                self.text += update.content.text
        elif isinstance(update, SessionUpdateOther):
            self.text += f"[{update.session_update}]"

    async def session_request_permission(self, request: RequestPermissionRequest) -> RequestPermissionResponse:
        self.text += request.description or request.title
        return RequestPermissionResponse(outcome=RequestPermissionOutcomeCancelled())


async def converse(agent: RemoteAgent) -> str:
    info = Implementation(name="editor", version="2", title=None)
    started = await agent.initialize(protocol_version=2, info=info, capabilities=ClientCapabilities())
    session = await agent.session_new(cwd="/work")
    again = await agent.request(NewSessionRequest(cwd="/work", mcp_servers=[]))
    await agent.request(LoginAuthRequest(method_id="key"))
    turn = await agent.session_prompt(session_id=session.session_id, prompt=[ContentBlockText(text="hi")])
    await agent.session_cancel(session_id=again.session_id)
    request = InitializeRequest(protocol_version=2, info=started.info)
    return f"{turn.message_id} {request.capabilities.meta}"


IDLE = SessionUpdateStateUpdateIdle
