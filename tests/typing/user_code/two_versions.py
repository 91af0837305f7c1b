"""An agent and a client of both versions of the protocol, over stdio and over a transport of the application."""

from __future__ import annotations

import asyncio
from typing import assert_never, assert_type

import acp_bindings
from acp_bindings import v1, v1_unstable, v2_draft, v2_draft_unstable
from acp_runtime import Options
from acp_runtime.transports import Transport


class AgentV1(v1.Agent):
    def __init__(self, client: v1.RemoteClient) -> None:
        self.client = client

    async def initialize(self, request: v1.InitializeRequest) -> v1.InitializeResponse:
        return v1.InitializeResponse(protocol_version=1)

    async def session_new(self, request: v1.NewSessionRequest) -> v1.NewSessionResponse:
        return v1.NewSessionResponse(session_id="s")

    async def session_prompt(self, request: v1.PromptRequest) -> v1.PromptResponse:
        return v1.PromptResponse(stop_reason="end_turn")


class AgentV2(v2_draft.Agent):
    def __init__(self, client: v2_draft.RemoteClient) -> None:
        self.client = client

    async def initialize(self, request: v2_draft.InitializeRequest) -> v2_draft.InitializeResponse:
        info = v2_draft.Implementation(name="agent", version="1")
        return v2_draft.InitializeResponse(protocol_version=2, info=info)

    async def session_new(self, request: v2_draft.NewSessionRequest) -> v2_draft.NewSessionResponse:
        return v2_draft.NewSessionResponse(session_id="s")

    async def session_prompt(self, request: v2_draft.PromptRequest) -> v2_draft.PromptResponse:
        return v2_draft.PromptResponse(message_id="m")


class ClientV1(v1.Client):
    def __init__(self, agent: v1.RemoteAgent) -> None:
        self.agent = agent

    async def session_update(self, notification: v1.SessionNotification) -> None:
        self.last = notification.update

    async def session_request_permission(self, request: v1.RequestPermissionRequest) -> v1.RequestPermissionResponse:
        return v1.RequestPermissionResponse(outcome=v1.RequestPermissionOutcomeCancelled())


class ClientV2(v2_draft.Client):
    def __init__(self, agent: v2_draft.RemoteAgent) -> None:
        self.agent = agent

    async def session_update(self, notification: v2_draft.UpdateSessionNotification) -> None:
        self.last = notification.update

    async def session_request_permission(
        self, request: v2_draft.RequestPermissionRequest
    ) -> v2_draft.RequestPermissionResponse:
        return v2_draft.RequestPermissionResponse(outcome=v2_draft.RequestPermissionOutcomeCancelled())


class Pipe:
    """A transport of the application. It derives from nothing."""

    def __init__(self) -> None:
        self.pieces = asyncio.Queue[bytes]()

    async def receive(self) -> bytes:
        return await self.pieces.get()

    async def send(self, data: bytes, /) -> None:
        await self.pieces.put(data)

    async def close(self) -> None:
        await self.pieces.put(b"")


async def initialize_v1(agent: v1.RemoteAgent) -> v1.InitializeResponse:
    return await agent.initialize(protocol_version=1)


async def initialize_v2(agent: v2_draft.RemoteAgent) -> None:
    await agent.initialize(protocol_version=2, info=v2_draft.Implementation(name="c", version="1"))


async def version_of(agent: v1.RemoteAgent | v2_draft.RemoteAgent) -> str:
    # Without a case for each version, this function could return None.
    match agent:
        case v1.RemoteAgent():
            return (await agent.session_new(cwd="/", mcp_servers=[])).session_id
        case v2_draft.RemoteAgent():
            return (await agent.session_new(cwd="/")).session_id


async def spawn() -> None:
    async with acp_bindings.spawn_agent(
        "agent",
        "--acp",
        v1=(ClientV1, initialize_v1),
        v2_draft=(ClientV2, initialize_v2),
        cwd="/",
        env={"A": "b"},
        options=Options(eof_grace=1),
    ) as agent:
        assert_type(agent, v1.RemoteAgent | v2_draft.RemoteAgent)
        await version_of(agent)
        match agent:
            case v1.RemoteAgent():
                assert agent.capabilities is not None
                assert agent.capabilities.load_session is not None
            case v2_draft.RemoteAgent():
                assert agent.supports("session/new")
            case _:
                assert_never(agent)


async def spawn_with_lambdas() -> None:
    async with acp_bindings.spawn_agent(
        "agent", v1=(ClientV1, lambda agent: agent.initialize(protocol_version=1))
    ) as agent:
        assert_type(agent, v1.RemoteAgent)


async def connect(transport: Transport) -> None:
    async def opened() -> Pipe:
        return Pipe()

    async with acp_bindings.connect(opened, v1=(ClientV1, initialize_v1), v2_draft=(ClientV2, initialize_v2)) as agent:
        assert_type(agent, v1.RemoteAgent | v2_draft.RemoteAgent)
    async with acp_bindings.connect(opened, v2_draft=(ClientV2, initialize_v2)) as only:
        assert_type(only, v2_draft.RemoteAgent)
    async with v1.connect(ClientV1, transport) as one:
        assert_type(one, v1.RemoteAgent)
    await v1.serve(AgentV1, Pipe())
    await acp_bindings.serve(transport, v1=AgentV1, v2_draft=AgentV2)


def main() -> None:
    asyncio.run(acp_bindings.serve_stdio(v1=AgentV1, v2_draft=AgentV2))


def serve_unstable(one: type[v1_unstable.Agent], two: type[v2_draft_unstable.Agent]) -> None:
    asyncio.run(acp_bindings.serve_stdio(v1_unstable=lambda _: one(), v2_draft_unstable=lambda _: two()))
