"""A client of the draft of version 2."""

from __future__ import annotations

from acp_bindings import v2_draft


class Editor(v2_draft.Client):
    def __init__(self, agent: v2_draft.RemoteAgent) -> None:
        self.agent = agent
        self.text = ""

    async def session_update(self, notification: v2_draft.UpdateSessionNotification) -> None:
        update = notification.update
        if isinstance(update, v2_draft.SessionUpdateAgentMessageChunk):
            if isinstance(update.content, v2_draft.ContentBlockText):
                self.text += update.content.text
        elif isinstance(update, v2_draft.SessionUpdateOther):
            self.text += f"[{update.session_update}]"

    async def session_request_permission(
        self, request: v2_draft.RequestPermissionRequest
    ) -> v2_draft.RequestPermissionResponse:
        self.text += request.description or request.title
        return v2_draft.RequestPermissionResponse(outcome=v2_draft.RequestPermissionOutcomeCancelled())


async def converse(agent: v2_draft.RemoteAgent) -> str:
    info = v2_draft.Implementation(name="editor", version="2", title=None)
    started = await agent.initialize(protocol_version=2, info=info, capabilities=v2_draft.ClientCapabilities())
    session = await agent.session_new(cwd="/work")
    again = await agent.request(v2_draft.NewSessionRequest(cwd="/work", mcp_servers=[]))
    await agent.request(v2_draft.LoginAuthRequest(method_id="key"))
    turn = await agent.session_prompt(session_id=session.session_id, prompt=[v2_draft.ContentBlockText(text="hi")])
    await agent.session_cancel(session_id=again.session_id)
    request = v2_draft.InitializeRequest(protocol_version=2, info=started.info)
    return f"{turn.message_id} {request.capabilities.meta}"


IDLE = v2_draft.SessionUpdateStateUpdateIdle
