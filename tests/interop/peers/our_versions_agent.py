"""An agent of the versions 1 and 2 of the protocol, written with this package. It asks for permission, then repeats.

Argument: the versions it has: `1`, `2` or `1,2`.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import acp_bindings
from acp_bindings import v1, v2_draft


class AgentV1(v1.Agent):
    def __init__(self, client: v1.RemoteClient) -> None:
        self.client = client

    async def initialize(self, request: v1.InitializeRequest) -> v1.InitializeResponse:
        return v1.InitializeResponse(protocol_version=1, agent_info=v1.Implementation(name="ours", version="1"))

    async def session_new(self, request: v1.NewSessionRequest) -> v1.NewSessionResponse:
        return v1.NewSessionResponse(session_id="new")

    async def session_prompt(self, request: v1.PromptRequest) -> v1.PromptResponse:
        answer = await self.client.session_request_permission(
            session_id=request.session_id,
            tool_call=v1.ToolCallUpdate(tool_call_id="t", title="Repeat"),
            options=[v1.PermissionOption(option_id="yes", name="Yes", kind="allow_once")],
        )
        if isinstance(answer.outcome, v1.RequestPermissionOutcomeSelected):
            await self.client.session_update(
                session_id=request.session_id, update=v1.SessionUpdateAgentMessageChunk(content=request.prompt[0])
            )
        return v1.PromptResponse(stop_reason="end_turn")


class AgentV2(v2_draft.Agent):
    def __init__(self, client: v2_draft.RemoteClient) -> None:
        self.client = client

    async def initialize(self, request: v2_draft.InitializeRequest) -> v2_draft.InitializeResponse:
        return v2_draft.InitializeResponse(
            protocol_version=2,
            info=v2_draft.Implementation(name="ours", version="1"),
            capabilities=v2_draft.AgentCapabilities(session=v2_draft.SessionCapabilities()),
        )

    async def session_new(self, request: v2_draft.NewSessionRequest) -> v2_draft.NewSessionResponse:
        return v2_draft.NewSessionResponse(session_id="new")

    async def session_prompt(self, request: v2_draft.PromptRequest) -> v2_draft.PromptResponse:
        answer = await self.client.session_request_permission(
            session_id=request.session_id,
            title="Repeat",
            options=[v2_draft.PermissionOption(option_id="yes", name="Yes", kind="allow_once")],
        )
        if isinstance(answer.outcome, v2_draft.RequestPermissionOutcomeSelected):
            update = v2_draft.SessionUpdateAgentMessageChunk(message_id="m", content=request.prompt[0])
            await self.client.session_update(session_id=request.session_id, update=update)
        return v2_draft.PromptResponse(message_id="m")


def agents(versions: str) -> dict[str, Any]:
    """Return the arguments that serve some versions."""
    return {"v1": AgentV1 if "1" in versions else None, "v2_draft": AgentV2 if "2" in versions else None}


if __name__ == "__main__":
    asyncio.run(acp_bindings.serve_stdio(**agents(sys.argv[1])))
