"""The examples in docstrings run, in a handler of an agent or in a client."""

from __future__ import annotations

import asyncio
import os
import sys
from inspect import getdoc
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest

from acp_bindings import v1
from acp_kit.agent import Sessions
from acp_kit.agent.sessions import Session
from acp_kit.agent.tool_calls import ToolCall
from acp_kit.agent.turns import Turn
from acp_kit.client import ClientSession, PermissionHandlers, PermissionPolicy, UpdateHandlers, allow, open_session
from acp_runtime import Options
from tools.paths import ROOT


class ExampleAgent(v1.Agent):
    """Runs an example in its turn."""

    def __init__(self, client: v1.RemoteClient, example: str) -> None:
        self.client = client
        self.sessions = Sessions()
        self.example = example
        self.deleted: list[str] = []

    async def initialize(self, request: v1.InitializeRequest) -> v1.InitializeResponse:
        return v1.InitializeResponse(protocol_version=1)

    async def session_new(self, request: v1.NewSessionRequest) -> v1.NewSessionResponse:
        return v1.NewSessionResponse(session_id=self.sessions.create(self.client, cwd=request.cwd).id)

    async def session_prompt(self, request: v1.PromptRequest) -> v1.PromptResponse:
        names: dict[str, Any] = {"self": self, "request": request, "delete_logs": lambda: self.deleted.append("logs")}
        if "self.sessions" in self.example:
            response: v1.PromptResponse = await run(self.example, **names)
            return response
        async with self.sessions[request.session_id].turn(request.prompt) as turn:
            await run(self.example, turn=turn, **names)
            await turn.say("done")
        return turn.response


class MyClient(UpdateHandlers, PermissionHandlers, v1.Client):
    def __init__(self, agent: v1.RemoteAgent) -> None:
        self.agent = agent
        self.permissions = PermissionPolicy(allow())


async def run(example: str, **names: Any) -> Any:
    """Run an example as the body of a coroutine function that knows these names."""
    module: dict[str, Any] = {"asyncio": asyncio, "os": os, "Path": Path, "Options": Options, **names}
    exec(f"async def example():\n{indent(example, '    ')}", module)
    return await module["example"]()


def example_of(documented: Any) -> str:
    """Return the indented lines after the first words "For example"."""
    _, _, after = (getdoc(documented) or "").partition("For example")
    lines = after.split("\n\n", 2)[1].splitlines()
    assert lines
    assert all(line.startswith("    ") for line in lines)
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("documented", "reply"), [(Session.turn, "Hello"), (Turn.tool_call, "done"), (ToolCall.ask, "done")]
)
async def test_an_example_runs_in_the_handler_of_an_agent(documented: Any, reply: str, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("remember the milk")
    example = example_of(documented)
    async with v1.connect_in_process(lambda client: ExampleAgent(client, example), MyClient) as agent:
        await agent.initialize(protocol_version=1)
        async with open_session(agent, cwd=tmp_path) as session:
            assert await session.ask("hello") == reply
            assert [call.status for call in session.state.tool_calls.values()] in ([], ["completed"])


@pytest.mark.parametrize("documented", [ClientSession.ask, open_session])
async def test_an_example_runs_in_a_client(
    documented: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with v1.connect_in_process(lambda client: ExampleAgent(client, "pass"), MyClient) as agent:
        await agent.initialize(protocol_version=1)
        if documented is open_session:
            await run(example_of(documented), agent=agent, open_session=open_session)
        else:
            async with open_session(agent, cwd=tmp_path) as session:
                await run(example_of(documented), session=session)
    assert capsys.readouterr().out == "done\n"


@pytest.mark.parametrize("documented", [v1.spawn_agent, Options])
async def test_an_example_starts_an_agent(documented: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    example = example_of(documented).replace('"gemini", "--acp"', "sys.executable, path")
    await run(
        example,
        MyClient=MyClient,
        spawn_agent=v1.spawn_agent,
        sys=sys,
        path=str(ROOT / "examples" / "echo_agent.py"),
    )
    assert (tmp_path / "agent.log").exists() == (documented is Options)
