"""All pieces of the kit work with peers of `v1_unstable`, also with models of v1, such as `acp_kit.content` makes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from acp_bindings import v1, v1_unstable
from acp_kit import content
from acp_kit.agent import Sessions, Settings, Turn, select
from acp_kit.client import (
    ClientSession,
    ElicitationHandlers,
    Elicitations,
    FileHandlers,
    PermissionHandlers,
    PermissionPolicy,
    TerminalHandlers,
    Terminals,
    UpdateHandlers,
    Workspace,
    allow,
    open_session,
)


class Agent(v1_unstable.Agent):
    """Uses everything in a turn."""

    def __init__(self, client: v1_unstable.RemoteClient) -> None:
        self.client: Any = client
        self.sessions = Sessions()

    async def initialize(self, request: v1_unstable.InitializeRequest) -> v1_unstable.InitializeResponse:
        return v1_unstable.InitializeResponse(protocol_version=1)

    async def session_new(self, request: v1_unstable.NewSessionRequest) -> v1_unstable.NewSessionResponse:
        session = self.sessions.create(self.client, cwd=request.cwd)
        self.settings = Settings(session, [select("mode", "Mode", {"a": "A", "b": "B"}, category="mode")])
        modes: Any = self.settings.modes
        return v1_unstable.NewSessionResponse(session_id=session.id, modes=modes)

    async def session_set_config_option(self, request: Any) -> Any:
        return await self.settings.set_config_option(request)

    async def session_prompt(self, request: Any) -> Any:
        async with self.sessions[request.session_id].turn(request.prompt) as turn:
            await self.act(turn)
        return turn.response

    async def act(self, turn: Turn) -> None:
        await turn.say(content.text("a"))
        await turn.plan(v1.PlanEntry(content="b", priority="low", status="pending"))
        async with turn.tool_call("c", locations=[v1.ToolCallLocation(path="/d")]) as call:
            await call.ask([v1.PermissionOption(option_id="e", name="E", kind="allow_once")])
            call.output(content.text("f"), content.diff("/g", None, "h"))
        await turn.send(v1.SessionUpdateAgentMessageChunk(content=content.text("i")))
        await turn.write_text_file("file", "j")
        await turn.say(await turn.read_text_file("file"))
        async with turn.terminal("sleep", "1000") as terminal:
            result = await terminal.wait(timeout=0)
        await turn.say(str(result.timed_out))
        await turn.say(str((await turn.elicit("Who?", Form)).values))
        await turn.say(await turn.elicit_url("Please log in.", "https://example.com"))


class Form(BaseModel):
    name: str


class Client(  # type: ignore[misc]
    UpdateHandlers, FileHandlers, TerminalHandlers, PermissionHandlers, ElicitationHandlers, v1_unstable.Client
):
    def __init__(self, agent: Any, folder: Path, terminals: Terminals) -> None:
        self.agent = agent
        self.workspace = Workspace(folder)
        self.terminals = terminals
        self.permissions = PermissionPolicy(allow())
        self.elicitations = Elicitations(fill_in=self.fill_in, open_url=self.open_url)

    async def fill_in(self, request: Any) -> Any:
        return {"name": "Ada"}

    async def open_url(self, request: Any) -> Any:
        return "accept"


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[ClientSession]:
    async with Terminals() as terminals:

        def make(agent: Any) -> Any:
            return Client(agent, folder, terminals)

        async with v1_unstable.connect_in_process(Agent, make) as remote:
            agent: Any = remote
            client = agent.handler
            elicitation: Any = {"form": {}, "url": {}}
            capabilities = v1_unstable.ClientCapabilities(
                fs=client.workspace.capabilities(agent), terminal=True, elicitation=elicitation
            )
            await agent.initialize(protocol_version=1, client_capabilities=capabilities)
            async with open_session(agent, cwd=folder) as session:
                yield session


async def test_an_agent_and_a_client_use_all_pieces(tmp_path: Path) -> None:
    async with opened(tmp_path) as session:
        prompt: Any = content.prompt_for(session.agent, [content.text("hi")])
        assert await session.ask(prompt) == "aijTruename='Ada'accept"
        (call,) = session.state.tool_calls.values()
        assert (call.status, [each.type for each in call.content or []]) == ("completed", ["content", "diff"])
        assert [entry.content for entry in session.state.plan] == ["b"]
        await session.set_config_option("mode", "b")
        assert [option.current_value for option in session.state.config_options] == ["b"]
