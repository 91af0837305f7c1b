"""A whole session between our client and our agent, over WebSocket and over HTTP."""

from __future__ import annotations

import asyncio

import pytest

from acp_bindings import v1, v2_draft
from acp_kit.remote import agent_app, open_transport
from acp_runtime import InvalidParams, RemoteError, UnsupportedProtocolVersion
from acp_runtime.transports import Transport
from tests.support.kit.remote_agents import EchoAgent
from tests.support.kit.remote_servers import serving
from tests.support.runtime.peer import PlainClient

UPDATES = 300


class Agent(EchoAgent):
    """Asks for permission in each turn, and then waits to be cancelled if the prompt says so."""

    async def session_load(self, request: v1.LoadSessionRequest) -> v1.LoadSessionResponse:
        if request.session_id != "s1":
            raise InvalidParams("There is no such session")
        for number in range(UPDATES):
            await self.say("s1", str(number))
        return v1.LoadSessionResponse()

    async def session_prompt(self, request: v1.PromptRequest) -> v1.PromptResponse:
        call = v1.ToolCallUpdate(tool_call_id="call-1", title="Delete everything")
        options = [v1.PermissionOption(option_id="yes", name="Yes", kind="allow_once")]
        answer = await self.client.session_request_permission(session_id="s1", tool_call=call, options=options)
        assert isinstance(answer.outcome, v1.RequestPermissionOutcomeSelected)
        await self.say("s1", answer.outcome.option_id)
        if request.prompt == [v1.ContentBlockText(text="wait")]:
            await asyncio.Event().wait()
        return await super().session_prompt(request)


class Client(PlainClient):
    def __init__(self, agent: v1.RemoteAgent) -> None:
        super().__init__(agent)
        self.texts: list[str] = []
        self.received = asyncio.Event()

    async def session_update(self, notification: v1.SessionNotification) -> None:
        assert isinstance(notification.update, v1.SessionUpdateAgentMessageChunk)
        assert isinstance(notification.update.content, v1.ContentBlockText)
        self.texts.append(notification.update.content.text)
        self.received.set()


async def serve(transport: Transport, identity: None) -> None:
    await v1.serve(Agent, transport)


@pytest.mark.parametrize("scheme", ["ws", "http"])
async def test_a_session_is_prompted_cancelled_and_loaded_over_the_network(scheme: str) -> None:
    async with serving(agent_app(serve), "uvicorn") as site:
        transport = await open_transport(f"{scheme}://127.0.0.1:{site.port}/acp")
        async with v1.connect(Client, transport) as agent:
            client = agent.handler
            assert isinstance(client, Client)
            await agent.initialize(protocol_version=1)
            await agent.session_new(cwd="/", mcp_servers=[])
            response = await agent.session_prompt(session_id="s1", prompt=[v1.ContentBlockText(text="go")])
            assert (client.texts, response.stop_reason) == (["yes", "go"], "end_turn")

            client.received.clear()
            prompt = [v1.ContentBlockText(text="wait")]
            turn = asyncio.create_task(agent.session_prompt(session_id="s1", prompt=prompt))
            await client.received.wait()
            await agent.session_cancel(session_id="s1")
            assert (await turn).stop_reason == "cancelled"

            client.texts.clear()
            await agent.session_load(session_id="s1", cwd="/", mcp_servers=[])
            assert client.texts == [str(number) for number in range(UPDATES)]

            with pytest.raises(RemoteError, match="There is no such session"):
                await agent.session_load(session_id="s2", cwd="/", mcp_servers=[])


class AgentOfVersion2(v2_draft.Agent):
    async def initialize(self, request: v2_draft.InitializeRequest) -> v2_draft.InitializeResponse:
        raise AssertionError("it is for version 2")


AgentOfVersion2.__abstractmethods__ = frozenset()


@pytest.mark.parametrize("scheme", ["ws", "http"])
async def test_a_client_of_version_1_learns_that_an_agent_has_only_version_2(scheme: str) -> None:
    async def serve(transport: Transport, _: None) -> None:
        await v2_draft.serve(lambda _: AgentOfVersion2(), transport)  # type: ignore[abstract]

    async with serving(agent_app(serve)) as site:
        transport = await open_transport(f"{scheme}://127.0.0.1:{site.port}/acp")
        async with v1.connect(PlainClient, transport) as agent:
            with pytest.raises(UnsupportedProtocolVersion) as refused:
                await agent.initialize(protocol_version=1)
        assert (refused.value.code, refused.value.data) == (-32022, {"requested": 1, "supported": [2]})
