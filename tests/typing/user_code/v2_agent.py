"""An agent of the draft of version 2, where unions and enums are open."""

from __future__ import annotations

from typing import Any

from acp_bindings.v2_draft import (
    PROTOCOL_VERSION,
    Agent,
    AgentCapabilities,
    ContentBlockOther,
    ContentBlockText,
    Implementation,
    InitializeRequest,
    InitializeResponse,
    NewSessionRequest,
    NewSessionResponse,
    PermissionOption,
    PromptRequest,
    PromptResponse,
    RemoteClient,
    RequestPermissionOutcomeSelected,
    SessionUpdateAgentMessageChunk,
    SessionUpdateOther,
    ToolKind,
)


class EchoAgent(Agent):
    def __init__(self, client: RemoteClient) -> None:
        self.client = client

    async def initialize(self, request: InitializeRequest) -> InitializeResponse:
        return InitializeResponse(
            protocol_version=PROTOCOL_VERSION,
            info=Implementation(name="echo", version=request.info.version),
            capabilities=AgentCapabilities(),
        )

    async def session_new(self, request: NewSessionRequest) -> NewSessionResponse:
        return NewSessionResponse(session_id=request.cwd)

    async def session_prompt(self, request: PromptRequest) -> PromptResponse:
        for block in request.prompt:
            if isinstance(block, ContentBlockText):
                chunk = SessionUpdateAgentMessageChunk(message_id="1", content=block)
                await self.client.session_update(session_id=request.session_id, update=chunk)
            elif isinstance(block, ContentBlockOther):
                await self.pass_on(request.session_id, block)
        return PromptResponse(message_id="1")

    async def pass_on(self, session_id: str, block: ContentBlockOther) -> None:
        """Pass on an unknown variant, whose payload is in `model_extra`."""
        payload: dict[str, Any] = block.model_extra or {}
        update = SessionUpdateOther(session_update="_example.com/block", **payload)
        await self.client.session_update(session_id=session_id, update=update)
        parsed = SessionUpdateOther.model_validate({"sessionUpdate": "_example.com/block", "block": payload})
        await self.client.session_update(session_id=session_id, update=parsed)

    async def ask(self, session_id: str) -> bool:
        answer = await self.client.session_request_permission(
            session_id=session_id,
            title="Run it?",
            options=[PermissionOption(option_id="yes", name="Yes", kind="allow_once")],
        )
        match answer.outcome:
            case RequestPermissionOutcomeSelected(option_id="yes"):
                return True
            case _:
                return False


def icon(kind: ToolKind) -> str:
    """Return an icon. An open enum takes any string."""
    return {"read": "r", "edit": "e"}.get(kind, "?")


ICONS = [icon("read"), icon("_example.com/new")]
