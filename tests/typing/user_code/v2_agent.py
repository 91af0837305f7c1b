"""An agent of the draft of version 2, where unions and enums are open."""

from __future__ import annotations

from typing import Any

from acp_bindings import v2_draft


class EchoAgent(v2_draft.Agent):
    def __init__(self, client: v2_draft.RemoteClient) -> None:
        self.client = client

    async def initialize(self, request: v2_draft.InitializeRequest) -> v2_draft.InitializeResponse:
        return v2_draft.InitializeResponse(
            protocol_version=v2_draft.PROTOCOL_VERSION,
            info=v2_draft.Implementation(name="echo", version=request.info.version),
            capabilities=v2_draft.AgentCapabilities(),
        )

    async def session_new(self, request: v2_draft.NewSessionRequest) -> v2_draft.NewSessionResponse:
        return v2_draft.NewSessionResponse(session_id=request.cwd)

    async def session_prompt(self, request: v2_draft.PromptRequest) -> v2_draft.PromptResponse:
        for block in request.prompt:
            if isinstance(block, v2_draft.ContentBlockText):
                chunk = v2_draft.SessionUpdateAgentMessageChunk(message_id="1", content=block)
                await self.client.session_update(session_id=request.session_id, update=chunk)
            elif isinstance(block, v2_draft.ContentBlockOther):
                await self.pass_on(request.session_id, block)
        return v2_draft.PromptResponse(message_id="1")

    async def pass_on(self, session_id: str, block: v2_draft.ContentBlockOther) -> None:
        """Pass on an unknown variant, whose payload is in `model_extra`."""
        payload: dict[str, Any] = block.model_extra or {}
        update = v2_draft.SessionUpdateOther(session_update="_example.com/block", **payload)
        await self.client.session_update(session_id=session_id, update=update)
        parsed = v2_draft.SessionUpdateOther.model_validate({"sessionUpdate": "_example.com/block", "block": payload})
        await self.client.session_update(session_id=session_id, update=parsed)

    async def ask(self, session_id: str) -> bool:
        answer = await self.client.session_request_permission(
            session_id=session_id,
            title="Run it?",
            options=[v2_draft.PermissionOption(option_id="yes", name="Yes", kind="allow_once")],
        )
        match answer.outcome:
            case v2_draft.RequestPermissionOutcomeSelected(option_id="yes"):
                return True
            case _:
                return False


def icon(kind: v2_draft.ToolKind) -> str:
    """Return an icon. An open enum takes any string."""
    return {"read": "r", "edit": "e"}.get(kind, "?")


ICONS = [icon("read"), icon("_example.com/new")]
