"""A dialog that a policy has opened is closed when the turn is cancelled."""

from __future__ import annotations

import asyncio

from acp_bindings.v1 import (
    Agent,
    Client,
    InitializeRequest,
    InitializeResponse,
    NewSessionRequest,
    NewSessionResponse,
    PermissionOption,
    PromptRequest,
    PromptResponse,
    RemoteAgent,
    RemoteClient,
    RequestPermissionRequest,
    RequestPermissionResponse,
    SessionNotification,
    ToolCallUpdate,
    connect_in_process,
)
from acp_kit.client import PermissionPolicy


class _AskingAgent(Agent):
    def __init__(self, client: RemoteClient) -> None:
        self.client = client

    async def initialize(self, request: InitializeRequest) -> InitializeResponse:
        return InitializeResponse(protocol_version=1)

    async def session_new(self, request: NewSessionRequest) -> NewSessionResponse:
        return NewSessionResponse(session_id="s")

    async def session_prompt(self, request: PromptRequest) -> PromptResponse:
        """Ask for permission, and say in `_meta` what the answer was, even if the turn is cancelled meanwhile."""
        call = ToolCallUpdate(tool_call_id="1", kind="read", title="Read a")
        options = [PermissionOption(option_id="yes", name="Yes", kind="allow_once")]
        asking = asyncio.create_task(
            self.client.session_request_permission(session_id="s", tool_call=call, options=options)
        )
        try:
            response = await asyncio.shield(asking)
        except asyncio.CancelledError:
            response = await asking
        return PromptResponse(stop_reason="end_turn", meta={"outcome": response.outcome.outcome})


class _AskingClient(Client):
    def __init__(self, agent: RemoteAgent) -> None:
        self.permissions = PermissionPolicy(ask=self.dialog)
        self.is_open, self.was_closed = asyncio.Event(), False
        self.dialogs = 0

    async def dialog(self, request: RequestPermissionRequest) -> str:
        self.dialogs += 1
        self.is_open.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.was_closed = True
        raise AssertionError

    async def session_request_permission(self, request: RequestPermissionRequest) -> RequestPermissionResponse:
        return await self.permissions.session_request_permission(request)

    async def session_update(self, notification: SessionNotification) -> None: ...


async def test_cancelling_the_turn_closes_the_dialog_and_answers_once() -> None:
    async with connect_in_process(_AskingAgent, _AskingClient) as agent:
        client = agent.handler
        assert isinstance(client, _AskingClient)
        await agent.initialize(protocol_version=1)
        await agent.session_new(cwd="/", mcp_servers=[])
        turn = asyncio.create_task(agent.session_prompt(session_id="s", prompt=[]))
        await client.is_open.wait()
        await agent.session_cancel(session_id="s")
        response = await turn
    assert response.meta == {"outcome": "cancelled"}
    assert client.was_closed
    assert client.dialogs == 1
