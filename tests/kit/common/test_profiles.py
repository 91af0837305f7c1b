"""All pieces of the kit work with peers of each profile, also with models of v1, such as `acp_kit.content` makes."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from acp_bindings import v1, v1_unstable
from acp_kit import content
from acp_kit.agent import Sessions, Settings, Turn, select
from acp_kit.client import (
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


class Form(BaseModel):
    name: str


def agent_of(profile: Any) -> type:
    """Return the class of an agent that uses everything in a turn."""

    class Agent(profile.Agent):
        def __init__(self, client: Any) -> None:
            self.client = client
            self.sessions = Sessions()

        async def initialize(self, request: Any) -> Any:
            return profile.InitializeResponse(protocol_version=1)

        async def session_new(self, request: Any) -> Any:
            session = self.sessions.create(self.client, cwd=request.cwd)
            self.settings: Any = Settings(session, [select("mode", "Mode", {"a": "A", "b": "B"}, category="mode")])
            return profile.NewSessionResponse(session_id=session.id, modes=self.settings.modes)

        async def session_set_config_option(self, request: Any) -> Any:
            return await self.settings.set_config_option(request)

        async def session_prompt(self, request: Any) -> Any:
            async with self.sessions[request.session_id].turn(request.prompt) as turn:
                await act(turn)
            return turn.response

    return Agent


async def act(turn: Turn) -> None:
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


class Handlers(UpdateHandlers, FileHandlers, TerminalHandlers, PermissionHandlers, ElicitationHandlers):
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


@pytest.mark.parametrize("profile", [v1, v1_unstable])
async def test_an_agent_and_a_client_use_all_pieces(
    profile: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    class Client(Handlers, profile.Client):
        pass

    async with (
        Terminals() as terminals,
        profile.connect_in_process(agent_of(profile), lambda agent: Client(agent, tmp_path, terminals)) as agent,
    ):
        files = agent.handler.workspace.capabilities(agent)
        capabilities: Any = {"fs": files, "terminal": True, "elicitation": {"form": {}, "url": {}}}
        await agent.initialize(
            protocol_version=1, client_capabilities=profile.ClientCapabilities.model_validate(capabilities)
        )
        async with open_session(agent, cwd=tmp_path) as session:
            prompt: Any = content.prompt_for(session.agent, [content.text("hi")])
            assert await session.ask(prompt) == "aijTruename='Ada'accept"
            (call,) = session.state.tool_calls.values()
            assert (call.status, [part.type for part in call.content or []]) == ("completed", ["content", "diff"])
            assert [entry.content for entry in session.state.plan] == ["b"]
            await session.set_config_option("mode", "b")
            assert [option.current_value for option in session.state.config_options] == ["b"]
    assert caplog.text == ""


@pytest.mark.parametrize("profile", ["v2_draft", "v2_draft_unstable"])
async def test_proxies_of_version_2_are_refused_at_once(profile: str) -> None:
    version: Any = import_module(f"acp_bindings.{profile}")
    channel: Any = None
    reason = f"This part of acp_kit is for version 1, but this Remote.* belongs to acp_bindings.{profile}"
    with pytest.raises(TypeError, match=reason):
        Sessions().create(version.RemoteClient(channel), cwd="/work")
    with pytest.raises(TypeError, match=reason):
        async with open_session(version.RemoteAgent(channel), cwd="/work"):
            pass
