"""A text is refused wherever the kit takes a sequence of texts or paths: it would count as one of its letters."""

from __future__ import annotations

import asyncio
import inspect
import json
import re
import sys
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from acp_bindings.v1 import (
    AuthMethodTerminal,
    CreateTerminalRequest,
    ReadTextFileRequest,
    RemoteAgent,
    WriteTextFileRequest,
    connect_in_process,
)
from acp_kit.agent import Session, SessionFiles, Sessions, Terminal, ToolCall, Turn
from acp_kit.client import Supervised, Terminals, Workspace, allow, ask, log_in_from_terminal, open_session, reject
from acp_kit.history import MemoryHistory, SqlHistory
from acp_kit.registry import Registry
from acp_kit.remote import agent_app
from acp_kit.sync import spawn_agent
from acp_kit.testing import ScriptedAgent, ScriptedClient, connect, replay_client, run_client
from tests.support.kit.acting_agent import COMMAND
from tests.support.kit.turns import ActingAgent, Viewer, updates_of
from tools.paths import ROOT
from tools.python_api import PUBLIC

# A sequence whose items may be texts or paths; `str | Sequence[...]` takes a text on purpose.
SEQUENCE = re.compile(
    r"(?<!str \| ContentBlock \| )(Sequence|Collection|Iterable)\[(.*\b(str|Path|Output|ToolKind)\b.*)\]"
)


def parameters() -> Iterator[str]:
    """The public parameters that are such sequences, with the class or function that they belong to."""
    for module in [import_module(name) for name in sorted(PUBLIC) if name.startswith("acp_kit.")]:
        for name in getattr(module, "__all__", vars(module)):
            item = getattr(module, name)
            if not getattr(item, "__module__", "").startswith("acp_kit.") or name.startswith("_"):
                continue
            if not inspect.isclass(item):
                members = {name: item}
            elif issubclass(item, Exception) or getattr(item, "_is_protocol", False):
                continue  # only the kit makes them, or others implement them
            else:
                members = {
                    f"{name}.{attribute}": getattr(item, attribute) for attribute in dir(item) if attribute[0] != "_"
                }
                members[name] = item.__init__
            for path, member in members.items():
                if inspect.isfunction(member) or inspect.ismethod(member):
                    for parameter in inspect.signature(member).parameters.values():
                        if SEQUENCE.search(str(parameter.annotation)):
                            yield f"{path} {parameter.name}"


def agent_uses() -> dict[str, Callable[[Turn], Any]]:
    """What an agent calls with a text, by the parameter."""
    sessions = Sessions()
    return {
        "Session additional_directories": lambda t: Session(
            t.session.client, "a", cwd="/", additional_directories="/b"
        ),
        "SessionFiles roots": lambda t: SessionFiles(t.session.client, "a", "/b"),
        "Sessions.create additional_directories": lambda t: sessions.create(
            t.session.client, cwd="/", additional_directories="/b"
        ),
        "Terminal args": lambda t: Terminal(t.session.client, "a", "ls", "-l", cwd="/", env={}, output_byte_limit=None),
        "ToolCall content": lambda t: tool_call(t, content="hello"),
        "ToolCall locations": lambda t: tool_call(t, locations="/a"),
        "ToolCall.update locations": update_locations,
        "Turn.run inherit_env": lambda t: t.run("true", inherit_env="PATH"),
        "Turn.tool_call content": lambda t: t.tool_call("Run", content="hello"),
        "Turn.tool_call locations": lambda t: t.tool_call("Run", locations="/a"),
    }


def tool_call(turn: Turn, **given: Any) -> ToolCall:
    needed: dict[str, Any] = {"kind": "other", "tool": None, "raw_input": None, "tool_call_id": "a"}
    return ToolCall(turn, "Run", **{**needed, "locations": (), "content": (), **given})


async def update_locations(turn: Turn) -> None:
    async with turn.tool_call("Run") as call:
        await call.update(locations="/a")


def client_uses(folder: Path) -> dict[str, Callable[[], Any]]:
    """What others call with a text, by the parameter."""
    login = AuthMethodTerminal(id="a", name="A", args=[], env={})
    return {
        "MemoryHistory.create additional_directories": lambda: MemoryHistory().create(
            "a", cwd="/", additional_directories="/b"
        ),
        "MemoryHistory.fork additional_directories": lambda: MemoryHistory().fork(
            "a", "b", additional_directories="/b"
        ),
        "MemoryHistory.set_directories additional_directories": lambda: MemoryHistory().set_directories("a", "/b"),
        "Registry.find_binary allow_env": lambda: registry().find_binary("a", "linux-x86_64", allow_env="KEY"),
        "Registry.resolve allow_env": lambda: registry().resolve("a", allow_env="KEY"),
        "SqlHistory.create additional_directories": lambda: SqlHistory(folder / "a.db").create(
            "a", cwd="/", additional_directories="/b"
        ),
        "SqlHistory.fork additional_directories": lambda: SqlHistory(folder / "a.db").fork(
            "a", "b", additional_directories="/b"
        ),
        "SqlHistory.set_directories additional_directories": lambda: SqlHistory(folder / "a.db").set_directories(
            "a", "/b"
        ),
        "Supervised.open_session additional_directories": supervised_session,
        "SyncAgent.open_session additional_directories": sync_session,
        "Terminals inherit_env": lambda: Terminals(inherit_env="PATH"),
        "Terminals.terminal_create session_roots": create_terminal,
        "Workspace.fs_read_text_file session_roots": lambda: Workspace(folder).fs_read_text_file(
            ReadTextFileRequest(session_id="a", path="/b"), session_roots="/b"
        ),
        "Workspace.fs_write_text_file session_roots": lambda: Workspace(folder).fs_write_text_file(
            WriteTextFileRequest(session_id="a", path="/b", content=""), session_roots="/b"
        ),
        "agent_app hosts": lambda: agent_app(serve, hosts="localhost"),
        "agent_app origins": lambda: agent_app(serve, origins="https://example.org"),
        "allow kinds": lambda: allow(kinds="read"),
        "ask kinds": lambda: ask(kinds="read"),
        "log_in_from_terminal inherit_env": lambda: log_in_from_terminal(login, "true", inherit_env="PATH"),
        "open_session additional_directories": session,
        "reject kinds": lambda: reject(kinds="read"),
        "connect agent": scripted_session,
        "replay_client agent": lambda: replayed_client(folder),
        "run_client command": client_process,
        "spawn_agent inherit_env": lambda: spawn_agent(sys.executable, inherit_env="PATH"),
    }


def registry() -> Registry:
    """A registry with one agent, which is published for npx and as an archive."""
    archive = {"archive": "https://example.com/a.tar.gz", "cmd": "./a"}
    distribution = {"npx": {"package": "a@1"}, "binary": {"linux-x86_64": archive}}
    entry = {"id": "a", "name": "A", "version": "1", "description": "", "distribution": distribution}
    return Registry.parse(json.dumps({"version": "1.0.0", "agents": [entry]}))


async def serve(streams: Any) -> None:
    raise AssertionError("the application is not even made")


async def create_terminal() -> None:
    async with Terminals() as terminals:
        await terminals.terminal_create(CreateTerminalRequest(session_id="a", command="ls"), session_roots="/b")


async def session() -> None:
    async with running_agent() as agent, open_session(agent, cwd="/", additional_directories="/b"):
        pass


async def scripted_session() -> None:
    async with connect("gemini --acp", ScriptedClient()):
        pass


async def client_process() -> None:
    async with run_client(ScriptedAgent(), "node client.mjs"):
        pass


async def replayed_client(folder: Path) -> None:
    recording = folder / "client.jsonl"
    message = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}}
    recording.write_text(json.dumps({"direction": "c2a", "message": message}) + "\n")
    await replay_client(recording, "gemini --acp")


async def supervised_session() -> None:
    async with Supervised(running_agent) as supervised, supervised.open_session(cwd="/", additional_directories="/b"):
        pass


@asynccontextmanager
async def running_agent() -> AsyncGenerator[RemoteAgent]:
    async with connect_in_process(lambda client: ActingAgent(client, [], []), Viewer) as agent:
        await agent.initialize(protocol_version=1)
        yield agent


def sync_session() -> None:
    with spawn_agent(*COMMAND, cwd=ROOT) as agent, agent.open_session(additional_directories="/b"):
        pass


REFUSED = r"(must be a list, such as \['(.+)'\], not '\2'|inherit_env must be .* a list of names, not 'PATH')\."


@pytest.mark.parametrize("parameter", agent_uses())
async def test_an_agent_cannot_pass_a_text_as_a_sequence(parameter: str) -> None:
    refused: list[str] = []

    async def act(turn: Turn) -> None:
        with pytest.raises(TypeError, match=REFUSED):
            result = agent_uses()[parameter](turn)
            if inspect.isawaitable(result):
                await result
        refused.append(parameter)

    await updates_of(act)
    assert refused == [parameter]


@pytest.mark.parametrize("parameter", client_uses(Path()))
async def test_nobody_else_can_pass_a_text_as_a_sequence(parameter: str, tmp_path: Path) -> None:
    use = client_uses(tmp_path)[parameter]
    with pytest.raises(TypeError, match=REFUSED):
        result = await asyncio.to_thread(use) if parameter.startswith(("Sync", "spawn")) else use()
        if inspect.isawaitable(result):
            await result


@pytest.mark.parametrize("given", [b"/b", {"/b": 1}, AuthMethodTerminal(id="a", name="A", args=[], env={})], ids=repr)
def test_nothing_else_that_is_no_list_counts_as_its_items(given: Any) -> None:
    with pytest.raises(TypeError, match="additional_directories must be a list"):
        Session(None, "a", cwd="/", additional_directories=given)  # type: ignore[arg-type]


def test_every_public_parameter_is_tried() -> None:
    assert {*parameters()} == agent_uses().keys() | client_uses(Path()).keys()
