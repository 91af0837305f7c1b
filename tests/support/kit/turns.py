"""An agent whose turns run a function of the test, and a client that keeps updates and questions."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeAlias

from acp_bindings import v1
from acp_kit.agent import Sessions, Settings, Turn, select, toggle
from acp_kit.client import PermissionHandlers, PermissionPolicy, TerminalHandlers, Terminals, UpdateHandlers
from acp_kit.testing import ScriptedAgent, ScriptedClient, connect
from tests.support.runtime.peer import PlainAgent

Act: TypeAlias = Callable[[Turn], Awaitable[None]]


class ActingAgent(PlainAgent):
    """Runs the next of `acts` in each turn."""

    def __init__(self, client: v1.RemoteClient, acts: list[Act], recorded: list[tuple[str, Any]]) -> None:
        async def record(session_id: str, update: Any) -> None:
            recorded.append((session_id, update))

        super().__init__(client)
        self.acts = acts
        self.recorded = recorded
        self.sessions = Sessions(record=record)

    async def session_new(self, request: v1.NewSessionRequest) -> v1.NewSessionResponse:
        return v1.NewSessionResponse(session_id=self.sessions.create(self.client, cwd=request.cwd).id)

    async def session_prompt(self, request: v1.PromptRequest) -> v1.PromptResponse:
        async with self.sessions[request.session_id].turn(request.prompt) as turn:
            await self.act(turn, request)
        return turn.response

    async def act(self, turn: Turn, request: v1.PromptRequest) -> None:
        await self.acts.pop(0)(turn)


class AgentWithSettings(ActingAgent):
    """Has two options, one of which is the mode, and a toggle."""

    settings: Settings

    async def session_new(self, request: v1.NewSessionRequest) -> v1.NewSessionResponse:
        session = self.sessions.create(self.client, cwd=request.cwd)
        self.settings = Settings(
            session,
            [
                select("mode", "Mode", {"ask": "Ask first", "code": "Write code"}, category="mode"),
                select("model", "Model", {"small": "Small", "large": "Large"}, current="large", category="model"),
                toggle("web", "Web search"),
            ],
        )
        return v1.NewSessionResponse(
            session_id=session.id, modes=self.settings.modes, config_options=self.settings.config_options
        )

    async def session_set_mode(self, request: v1.SetSessionModeRequest) -> v1.SetSessionModeResponse:
        return await self.settings.set_mode(request)

    async def session_set_config_option(
        self, request: v1.SetSessionConfigOptionRequest
    ) -> v1.SetSessionConfigOptionResponse:
        return await self.settings.set_config_option(request)


class KeepingClient(v1.Client):
    """Keeps all updates and permission requests, and answers those with the next of `choices`."""

    def __init__(self, agent: v1.RemoteAgent) -> None:
        self.agent = agent
        self.updates: list[Any] = []
        self.asked: list[v1.RequestPermissionRequest] = []
        self.choices: list[str | None] = []

    async def session_update(self, notification: v1.SessionNotification) -> None:
        self.updates.append(notification.update)

    async def session_request_permission(self, request: v1.RequestPermissionRequest) -> v1.RequestPermissionResponse:
        self.asked.append(request)
        choice = self.choices.pop(0)
        if choice is None:
            return v1.RequestPermissionResponse(outcome=v1.RequestPermissionOutcomeCancelled())
        return v1.RequestPermissionResponse(outcome=v1.RequestPermissionOutcomeSelected(option_id=choice))


class Viewer(UpdateHandlers, PermissionHandlers, v1.Client):
    """Passes updates to the sessions of `open_session`, and rejects permission requests."""

    def __init__(self, agent: v1.RemoteAgent) -> None:
        self.agent = agent
        self.permissions = PermissionPolicy()


class Conversation:
    """One session between the two."""

    def __init__(
        self, agent: v1.RemoteAgent, session_id: str, acts: list[Act], recorded: list[tuple[str, Any]]
    ) -> None:
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
        turn = await self.agent.session_prompt(session_id=self.session_id, prompt=[v1.ContentBlockText(text="go")])
        return turn.stop_reason


@asynccontextmanager
async def conversation(
    client: Callable[[v1.RemoteAgent], v1.Client] = KeepingClient,
    capabilities: v1.ClientCapabilities | None = None,
    cwd: str | Path = "/work",
) -> AsyncIterator[Conversation]:
    acts: list[Act] = []
    recorded: list[tuple[str, Any]] = []
    async with v1.connect_in_process(lambda peer: ActingAgent(peer, acts, recorded), client) as agent:
        await agent.initialize(protocol_version=1, client_capabilities=capabilities or v1.ClientCapabilities())
        session = await agent.session_new(cwd=str(cwd), mcp_servers=[])
        yield Conversation(agent, session.session_id, acts, recorded)


async def updates_of(act: Act, *choices: str | None) -> list[Any]:
    """Return the updates of a turn that ends by itself."""
    client = ScriptedClient(permissions=choices)
    async with connect(ScriptedAgent(act), client) as session:
        await session.ask("go")
    return client.updates


async def result_of(act: Callable[[Turn], Awaitable[Any]], client: Any = Viewer, cwd: str | Path = "/work") -> Any:
    """Do something in a turn, and return its result, or the exception that it raises."""
    results: list[Any] = []

    async def step(turn: Turn) -> None:
        try:
            results.append(await act(turn))
        except Exception as error:
            results.append(error)

    async with connect(ScriptedAgent(step), client, cwd=cwd) as session:
        await session.ask("go")
    return results[0]


@asynccontextmanager
async def client_with_terminals(folder: Path) -> AsyncIterator[Callable[[v1.RemoteAgent], v1.Client]]:
    """Yield the factory of a client whose terminals run in a folder."""

    class Runner(TerminalHandlers, Viewer):
        terminals: Terminals

    async with Terminals(folder, grace=0.05) as terminals:
        Runner.terminals = terminals
        yield Runner


@asynccontextmanager
async def client_without_terminals(folder: Path) -> AsyncIterator[Callable[[v1.RemoteAgent], v1.Client]]:
    """Yield the factory of a client for which an agent runs commands in processes of its own."""
    yield Viewer
