"""The optional bases handle the requests of a client with its workspace, terminals and permissions."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

from acp_bindings.v1 import (
    Agent,
    Client,
    ClientCapabilities,
    FileSystemCapabilities,
    InitializeRequest,
    InitializeResponse,
    NewSessionRequest,
    NewSessionResponse,
    PromptRequest,
    PromptResponse,
    RemoteAgent,
    RemoteClient,
    SessionNotification,
    ToolCallUpdate,
    connect_in_process,
)
from acp_kit.client import (
    FileHandlers,
    PermissionHandlers,
    PermissionPolicy,
    TerminalHandlers,
    Terminals,
    UpdateHandlers,
    Workspace,
    client_capabilities,
)


class _UsingAgent(Agent):
    def __init__(self, client: RemoteClient) -> None:
        self.client = client
        self.path = ""

    async def initialize(self, request: InitializeRequest) -> InitializeResponse:
        return InitializeResponse(protocol_version=1)

    async def session_new(self, request: NewSessionRequest) -> NewSessionResponse:
        self.path = f"{request.cwd}/file"
        return NewSessionResponse(session_id="s")

    async def session_prompt(self, request: PromptRequest) -> PromptResponse:
        """Use every method of the client once."""
        client = self.client
        await client.fs_write_text_file(session_id="s", path=self.path, content="text")
        read = await client.fs_read_text_file(session_id="s", path=self.path)
        id = (await client.terminal_create(session_id="s", command="echo", args=["hello"])).terminal_id
        status = await client.terminal_wait_for_exit(session_id="s", terminal_id=id)
        output = await client.terminal_output(session_id="s", terminal_id=id)
        await client.terminal_kill(session_id="s", terminal_id=id)
        await client.terminal_release(session_id="s", terminal_id=id)
        asked = await client.session_request_permission(
            session_id="s", tool_call=ToolCallUpdate(tool_call_id="1"), options=[]
        )
        used = [read.content, status.exit_code, output.output, asked.outcome.outcome]
        return PromptResponse(stop_reason="end_turn", meta={"used": used})


class _KitClient(FileHandlers, TerminalHandlers, PermissionHandlers, Client):
    def __init__(self, agent: RemoteAgent, root: Path, terminals: Terminals) -> None:
        self.workspace = Workspace(root)
        self.terminals = terminals
        self.permissions = PermissionPolicy()

    async def session_update(self, notification: SessionNotification) -> None: ...


async def test_a_client_needs_no_handlers_of_its_own(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with (
        Terminals(tmp_path) as terminals,
        connect_in_process(_UsingAgent, lambda agent: _KitClient(agent, tmp_path, terminals)) as agent,
    ):
        await agent.initialize(protocol_version=1, client_capabilities=client_capabilities(agent.handler))
        await agent.session_new(cwd=str(tmp_path), mcp_servers=[])
        turn = await agent.session_prompt(session_id="s", prompt=[])
    assert turn.meta == {"used": ["text", 0, "hello\n", "cancelled"]}
    assert caplog.text == ""


class _Reader(UpdateHandlers, FileHandlers, PermissionHandlers, Client):
    def __init__(self, root: Path) -> None:
        self.workspace = Workspace(root, read_only=True)


class _Runner(UpdateHandlers, TerminalHandlers, PermissionHandlers, Client):
    pass


class _Viewer(UpdateHandlers, PermissionHandlers, Client):
    pass


async def test_a_client_advertises_what_its_bases_serve(tmp_path: Path) -> None:
    async with Terminals() as terminals:
        client = _KitClient(cast("RemoteAgent", None), tmp_path, terminals)
        files = FileSystemCapabilities(read_text_file=True, write_text_file=True)
        assert client_capabilities(client) == ClientCapabilities(fs=files, terminal=True)
    reading = FileSystemCapabilities(read_text_file=True, write_text_file=False)
    assert client_capabilities(_Reader(tmp_path)) == ClientCapabilities(fs=reading)
    assert client_capabilities(_Runner()) == ClientCapabilities(terminal=True)
    assert client_capabilities(_Viewer()) == ClientCapabilities()


async def test_a_client_advertises_extensions_beside_what_its_bases_serve() -> None:
    assert client_capabilities(_Runner(), meta={"x": 1}) == ClientCapabilities(terminal=True, meta={"x": 1})
