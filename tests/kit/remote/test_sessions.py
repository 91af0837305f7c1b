"""A whole session between our client and our agent, over WebSocket and over HTTP."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
import uvicorn
from starlette.types import ASGIApp

from acp_bindings import v1
from acp_kit.remote import agent_app, open_transport
from acp_runtime import InvalidParams, RemoteError
from acp_runtime.transports import Transport

UPDATES = 300


class Agent(v1.Agent):
    def __init__(self, client: v1.RemoteClient) -> None:
        self.client = client
        self.cancelled = asyncio.Event()

    async def initialize(self, request: v1.InitializeRequest) -> v1.InitializeResponse:
        capabilities = v1.AgentCapabilities(load_session=True)
        return v1.InitializeResponse(protocol_version=1, agent_capabilities=capabilities)

    async def session_new(self, request: v1.NewSessionRequest) -> v1.NewSessionResponse:
        return v1.NewSessionResponse(session_id="session-1")

    async def session_load(self, request: v1.LoadSessionRequest) -> v1.LoadSessionResponse:
        if request.session_id != "session-1":
            raise InvalidParams("There is no such session")
        for number in range(UPDATES):
            await self.say(request.session_id, f"{number} ")
        return v1.LoadSessionResponse()

    async def session_prompt(self, request: v1.PromptRequest) -> v1.PromptResponse:
        match request.prompt[0]:
            case v1.ContentBlockText(text="wait"):
                await self.say(request.session_id, "waiting")
                await self.cancelled.wait()
                return v1.PromptResponse(stop_reason="cancelled")
            case _:
                pass
        call = v1.ToolCallUpdate(tool_call_id="call-1", title="Delete everything")
        options = [v1.PermissionOption(option_id="yes", name="Yes", kind="allow_once")]
        answer = await self.client.session_request_permission(
            session_id=request.session_id, tool_call=call, options=options
        )
        assert isinstance(answer.outcome, v1.RequestPermissionOutcomeSelected)
        await self.say(request.session_id, f"answer: {answer.outcome.option_id}")
        return v1.PromptResponse(stop_reason="end_turn")

    async def session_cancel(self, notification: v1.CancelNotification) -> None:
        self.cancelled.set()

    async def say(self, session: str, text: str) -> None:
        chunk = v1.SessionUpdateAgentMessageChunk(content=v1.ContentBlockText(text=text))
        await self.client.session_update(session_id=session, update=chunk)


class Client(v1.Client):
    def __init__(self, agent: v1.RemoteAgent) -> None:
        self.texts: list[str] = []
        self.received = asyncio.Event()

    async def session_update(self, notification: v1.SessionNotification) -> None:
        match notification.update:
            case v1.SessionUpdateAgentMessageChunk(content=v1.ContentBlockText(text=text)):
                self.texts.append(text)
                self.received.set()
            case _:
                raise AssertionError(notification)

    async def session_request_permission(self, request: v1.RequestPermissionRequest) -> v1.RequestPermissionResponse:
        outcome = v1.RequestPermissionOutcomeSelected(option_id=request.options[0].option_id)
        return v1.RequestPermissionResponse(outcome=outcome)


async def serve(transport: Transport, identity: None) -> None:
    await v1.serve(Agent, transport)


@asynccontextmanager
async def serving(app: ASGIApp) -> AsyncGenerator[str]:
    """Serve an application on a free port, and yield its host and port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
        running = asyncio.create_task(server.serve([listener]))
        try:
            yield f"127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            await running


@pytest.mark.parametrize("scheme", ["ws", "http"])
def test_a_session(scheme: str) -> None:
    async def test() -> None:
        async with serving(agent_app(serve)) as address:
            transport = await open_transport(f"{scheme}://{address}/acp")
            async with v1.connect(Client, transport) as agent:
                client = agent.handler
                assert isinstance(client, Client)
                await agent.initialize(protocol_version=1)
                session = await agent.session_new(cwd="/", mcp_servers=[])
                block = v1.ContentBlockText(text="go")
                response = await agent.session_prompt(session_id=session.session_id, prompt=[block])
                assert (client.texts, response.stop_reason) == (["answer: yes"], "end_turn")

                client.received.clear()
                block = v1.ContentBlockText(text="wait")
                turn = asyncio.create_task(agent.session_prompt(session_id="session-1", prompt=[block]))
                await client.received.wait()
                await agent.session_cancel(session_id="session-1")
                assert (await turn).stop_reason == "cancelled"

                client.texts.clear()
                await agent.session_load(session_id="session-1", cwd="/", mcp_servers=[])
                assert client.texts == [f"{number} " for number in range(UPDATES)]

                with pytest.raises(RemoteError, match="There is no such session"):
                    await agent.session_load(session_id="session-2", cwd="/", mcp_servers=[])

    asyncio.run(asyncio.wait_for(test(), 60))
