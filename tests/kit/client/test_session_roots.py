"""Each session gets the files of its own folders, and its commands start there, though all share one client."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from acp_bindings import v1
from acp_kit.client import FileHandlers, TerminalHandlers, Terminals, Workspace, open_session
from acp_runtime import InvalidParams
from tests.support.kit.turns import Viewer
from tests.support.recording_factory import RecordingFactory
from tests.support.runtime.peer import PlainAgent


class SeveralRoots(PlainAgent):
    """Has a session for each `session/new`, and keeps the requests."""

    def __init__(self, client: v1.RemoteClient) -> None:
        super().__init__(client)
        self.opened: list[v1.NewSessionRequest] = []

    async def initialize(self, request: v1.InitializeRequest) -> v1.InitializeResponse:
        roots = v1.SessionCapabilities(additional_directories=v1.SessionAdditionalDirectoriesCapabilities())
        capabilities = v1.AgentCapabilities(session_capabilities=roots)
        return v1.InitializeResponse(protocol_version=1, agent_capabilities=capabilities)

    async def session_new(self, request: v1.NewSessionRequest) -> v1.NewSessionResponse:
        self.opened.append(request)
        return v1.NewSessionResponse(session_id=f"session-{len(self.opened)}")


class Editor(FileHandlers, TerminalHandlers, Viewer):
    def __init__(self, agent: v1.RemoteAgent, workspace: Workspace, terminals: Terminals) -> None:
        super().__init__(agent)
        self.workspace = workspace
        self.terminals = terminals


@dataclass
class Projects:
    """Two projects with a file each, whose sessions are open."""

    a: Path
    b: Path
    agent: v1.RemoteAgent
    client: v1.RemoteClient


@asynccontextmanager
async def projects(folder: Path) -> AsyncIterator[Projects]:
    a, b = folder / "a", folder / "b"
    for project in a, b:
        project.mkdir()
        (project / "x").write_text(f"of {project.name}")
    factory = RecordingFactory(SeveralRoots)
    async with (
        Terminals(a, b) as terminals,
        v1.connect_in_process(factory, lambda agent: Editor(agent, Workspace(a, b), terminals)) as agent,
    ):
        files = v1.FileSystemCapabilities(read_text_file=True, write_text_file=True)
        await agent.initialize(protocol_version=1, client_capabilities=v1.ClientCapabilities(fs=files, terminal=True))
        yield Projects(a, b, agent, factory.handler.client)


Use: TypeAlias = Callable[[v1.RemoteClient, str, Path], Awaitable[Any]]


async def read(client: v1.RemoteClient, session_id: str, folder: Path) -> Any:
    return (await client.fs_read_text_file(session_id=session_id, path=f"{folder}/x")).content


async def write(client: v1.RemoteClient, session_id: str, folder: Path) -> Any:
    await client.fs_write_text_file(session_id=session_id, path=f"{folder}/x", content="new")
    return (folder / "x").read_text()


async def run(client: v1.RemoteClient, session_id: str, folder: Path | None) -> Any:
    cwd: dict[str, Any] = {} if folder is None else {"cwd": str(folder)}
    created = await client.terminal_create(session_id=session_id, command="/bin/pwd", **cwd)
    terminal: Any = {"session_id": session_id, "terminal_id": created.terminal_id}
    await client.terminal_wait_for_exit(**terminal)
    output = (await client.terminal_output(**terminal)).output
    await client.terminal_release(**terminal)
    return output.strip()


@pytest.mark.parametrize("use", [read, write, run])
async def test_a_session_uses_only_its_own_folders(use: Use, tmp_path: Path) -> None:
    async with projects(tmp_path) as place:
        async with (
            open_session(place.agent, cwd=place.a) as of_a,
            open_session(place.agent, cwd=place.b) as of_b,
            open_session(place.agent, cwd=place.a, additional_directories=[place.b]) as of_both,
        ):
            for session, own, other in (of_a, place.a, place.b), (of_b, place.b, place.a):
                assert await use(place.client, session.id, own)
                with pytest.raises(InvalidParams, match=f"is outside of {own}"):
                    await use(place.client, session.id, other)
            assert await use(place.client, of_both.id, place.b)
        for session_id in of_a.id, "unknown":
            with pytest.raises(InvalidParams, match=f"The session '{session_id}' isn't open"):
                await use(place.client, session_id, place.a)


async def test_a_command_starts_in_the_folder_of_its_session(tmp_path: Path) -> None:
    async with projects(tmp_path) as place, open_session(place.agent, cwd=place.b) as session:
        assert await run(place.client, session.id, None) == str(place.b.resolve())


async def test_a_session_may_be_in_a_part_of_the_workspace_or_around_it(tmp_path: Path) -> None:
    async with projects(tmp_path) as place:
        inner = place.a / "inner"
        inner.mkdir()
        (inner / "x").write_text("inner")
        async with open_session(place.agent, cwd=inner) as session:
            assert await read(place.client, session.id, inner) == "inner"
            with pytest.raises(InvalidParams, match="outside"):
                await read(place.client, session.id, place.a)
        (tmp_path / "x").write_text("above")
        async with open_session(place.agent, cwd=tmp_path) as session:
            assert await read(place.client, session.id, place.b) == "of b"
            with pytest.raises(InvalidParams, match="outside"):
                await read(place.client, session.id, tmp_path)
        async with open_session(place.agent, cwd=tmp_path / "missing") as session:
            with pytest.raises(InvalidParams, match="outside of all folders"):
                await read(place.client, session.id, place.a)


@pytest.mark.parametrize("use", [read, write, run])
async def test_without_open_session_the_client_does_not_know_the_folders(use: Use, tmp_path: Path) -> None:
    async with projects(tmp_path) as place:
        opened = await place.agent.session_new(cwd=str(place.a), mcp_servers=[])
        assert await use(place.client, opened.session_id, place.b)


async def test_a_link_does_not_lead_into_the_folder_of_another_session(tmp_path: Path) -> None:
    async with projects(tmp_path) as place, open_session(place.agent, cwd=place.a) as session:
        (place.a / "link").symlink_to(place.b)
        with pytest.raises(InvalidParams, match="outside"):
            await read(place.client, session.id, place.a / "link")


async def test_repeated_folders_are_sent_once() -> None:
    factory = RecordingFactory(SeveralRoots)
    async with v1.connect_in_process(factory, Viewer) as agent:
        await agent.initialize(protocol_version=1)
        async with open_session(agent, cwd="/a", additional_directories=["/b", "/a", "/b", "/a/c"]) as session:
            assert session.roots == ("/a", "/b", "/a/c")
        async with open_session(agent, cwd="/a", additional_directories=["/a"]) as session:
            assert session.roots == ("/a",)
    assert [request.additional_directories for request in factory.handler.opened] == [["/b", "/a/c"], []]
