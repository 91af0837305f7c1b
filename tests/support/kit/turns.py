"""An agent whose turns run a function of the test, and a client that keeps what it was sent."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeAlias

from acp_bindings import v1
from acp_bindings.v1 import (
    Agent,
    Client,
    ClientCapabilities,
    ContentBlockText,
    InitializeRequest,
    InitializeResponse,
    NewSessionRequest,
    NewSessionResponse,
    PromptRequest,
    PromptResponse,
    RemoteAgent,
    RemoteClient,
    RequestPermissionOutcomeCancelled,
    RequestPermissionOutcomeSelected,
    RequestPermissionRequest,
    RequestPermissionResponse,
    SessionNotification,
    SetSessionConfigOptionRequest,
    SetSessionConfigOptionResponse,
    SetSessionModeRequest,
    SetSessionModeResponse,
    connect_in_process,
)
from acp_kit.agent import Sessions, Settings, Turn, select, toggle
from acp_kit.client import PermissionHandlers, PermissionPolicy, UpdateHandlers
from acp_kit.testing import ScriptedAgent, ScriptedClient, connect

Act: TypeAlias = Callable[[Turn], Awaitable[None]]


class ActingAgent(Agent):
    """Runs the next of `acts` in each turn."""

    def __init__(self, client: RemoteClient, acts: list[Act], recorded: list[tuple[str, Any]]) -> None:
        async def record(session_id: str, update: Any) -> None:
            recorded.append((session_id, update))

        self.client = client
        self.acts = acts
        self.recorded = recorded
        self.sessions = Sessions(record=record)

    async def initialize(self, request: InitializeRequest) -> InitializeResponse:
        return InitializeResponse(protocol_version=1)

    async def session_new(self, request: NewSessionRequest) -> NewSessionResponse:
        return NewSessionResponse(session_id=self.sessions.create(self.client, cwd=request.cwd).id)

    async def session_prompt(self, request: PromptRequest) -> PromptResponse:
        async with self.sessions[request.session_id].turn(request.prompt) as turn:
            await self.act(turn, request)
        return turn.response

    async def act(self, turn: Turn, request: PromptRequest) -> None:
        await self.acts.pop(0)(turn)


class AgentWithSettings(ActingAgent):
    """Has two options, one of which is the mode, and a toggle."""

    settings: Settings

    async def session_new(self, request: NewSessionRequest) -> NewSessionResponse:
        session = self.sessions.create(self.client, cwd=request.cwd)
        self.settings = Settings(
            session,
            [
                select("mode", "Mode", {"ask": "Ask first", "code": "Write code"}, category="mode"),
                select("model", "Model", {"small": "Small", "large": "Large"}, current="large", category="model"),
                toggle("web", "Web search"),
            ],
        )
        return NewSessionResponse(
            session_id=session.id, modes=self.settings.modes, config_options=self.settings.config_options
        )

    async def session_set_mode(self, request: SetSessionModeRequest) -> SetSessionModeResponse:
        return await self.settings.set_mode(request)

    async def session_set_config_option(self, request: SetSessionConfigOptionRequest) -> SetSessionConfigOptionResponse:
        return await self.settings.set_config_option(request)


class KeepingClient(Client):
    """Keeps all updates and permission requests, and answers those with the next of `choices`."""

    def __init__(self, agent: RemoteAgent) -> None:
        self.agent = agent
        self.updates: list[Any] = []
        self.asked: list[RequestPermissionRequest] = []
        self.choices: list[str | None] = []

    async def session_update(self, notification: SessionNotification) -> None:
        self.updates.append(notification.update)

    async def session_request_permission(self, request: RequestPermissionRequest) -> RequestPermissionResponse:
        self.asked.append(request)
        choice = self.choices.pop(0)
        if choice is None:
            return RequestPermissionResponse(outcome=RequestPermissionOutcomeCancelled())
        return RequestPermissionResponse(outcome=RequestPermissionOutcomeSelected(option_id=choice))


class Viewer(UpdateHandlers, PermissionHandlers, Client):
    """Passes updates on to the sessions of `open_session`, and rejects what it is asked for."""

    def __init__(self, agent: RemoteAgent) -> None:
        self.agent = agent
        self.permissions = PermissionPolicy()


class Conversation:
    """One session between the two."""

    def __init__(self, agent: RemoteAgent, session_id: str, acts: list[Act], recorded: list[tuple[str, Any]]) -> None:
        self.agent = agent
        self.client: KeepingClient = agent.handler
        self.session_id = session_id
        self.recorded = recorded
        self._acts = acts

    @property
    def updates(self) -> list[Any]:
        return self.client.updates

    async def prompt(self, act: Act, *choices: str | None) -> str:
        """Run a function in a turn, with these answers to permission requests, and return the stop reason."""
        self._acts.append(act)
        self.client.choices += choices
        turn = await self.agent.session_prompt(session_id=self.session_id, prompt=[ContentBlockText(text="go")])
        return turn.stop_reason


@asynccontextmanager
async def conversation(
    client: Callable[[RemoteAgent], Client] = KeepingClient,
    capabilities: ClientCapabilities | None = None,
    cwd: str | Path = "/work",
) -> AsyncIterator[Conversation]:
    acts: list[Act] = []
    recorded: list[tuple[str, Any]] = []
    async with connect_in_process(lambda peer: ActingAgent(peer, acts, recorded), client) as agent:
        await agent.initialize(protocol_version=1, client_capabilities=capabilities or v1.ClientCapabilities())
        session = await agent.session_new(cwd=str(cwd), mcp_servers=[])
        yield Conversation(agent, session.session_id, acts, recorded)


async def updates_of(act: Act, *choices: str | None) -> list[Any]:
    """Return the updates of a turn that ends by itself."""
    client = ScriptedClient(permissions=choices)
    async with connect(ScriptedAgent(act), client) as session:
        await session.ask("go")
    return client.updates
