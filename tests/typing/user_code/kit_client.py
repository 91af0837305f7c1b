"""A client that serves files, terminals and permissions with acp_kit."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, assert_type

from acp_bindings import v1
from acp_kit import sync
from acp_kit.client import (
    ElicitationHandlers,
    Elicitations,
    FileHandlers,
    PermissionHandlers,
    PermissionPolicy,
    SessionState,
    TerminalHandlers,
    Terminals,
    UpdateHandlers,
    Workspace,
    allow,
    ask,
    client_capabilities,
    form_defaults,
    form_problems,
    list_sessions,
    open_session,
    reject,
)
from acp_kit.registry import Binary, Launch, Registry


class Everything(FileHandlers, TerminalHandlers, PermissionHandlers, ElicitationHandlers, v1.Client):
    def __init__(self, agent: v1.RemoteAgent, root: Path, terminals: Terminals) -> None:
        self.agent = agent
        self.state = SessionState()
        self.workspace = Workspace(root, "/tmp", read_buffer=self.unsaved, on_write=self.written)
        self.terminals = terminals
        self.permissions = PermissionPolicy(
            reject(under=root / "secrets"),
            allow(kinds={"read", "search"}, under=root),
            ask(kinds=["edit"]),
            ask=self.dialog,
        )
        self.elicitations = Elicitations(fill_in=self.form, open_url=self.link, on_complete=print)

    async def form(self, request: v1.CreateElicitationRequestForm) -> dict[str, Any] | Literal["decline", "cancel"]:
        values = assert_type(form_defaults(request.requested_schema), dict[str, Any])
        return "decline" if assert_type(form_problems(request.requested_schema, values), dict[str, str]) else values

    async def link(self, request: v1.CreateElicitationRequestUrl) -> Literal["accept", "decline"]:
        return "accept" if request.url.startswith("https://") else "decline"

    async def session_update(self, notification: v1.SessionNotification) -> None:
        self.state.apply(notification.update)

    async def dialog(self, request: v1.RequestPermissionRequest) -> str | None:
        return request.options[0].option_id if request.options else None

    async def unsaved(self, path: Path) -> str | None:
        return None if path.suffix == ".py" else ""

    def written(self, path: Path, text: str) -> None:
        self.last = path, text


class OnlyFiles(v1.Client):
    def __init__(self, agent: v1.RemoteAgent) -> None:
        self.workspace = Workspace("/tmp", read_only=True, read_buffer=lambda path: None)

    async def fs_read_text_file(self, request: v1.ReadTextFileRequest) -> v1.ReadTextFileResponse:
        return await self.workspace.fs_read_text_file(request)

    async def session_update(self, notification: v1.SessionNotification) -> None: ...

    async def session_request_permission(self, request: v1.RequestPermissionRequest) -> v1.RequestPermissionResponse:
        return await PermissionPolicy().session_request_permission(request)


async def main(root: Path) -> None:
    async with (
        Terminals(root, inherit_env=["PATH"], shell=True) as terminals,
        v1.spawn_agent(lambda agent: Everything(agent, root, terminals), "agent") as agent,
    ):
        assert_type(Elicitations().capabilities(), v1.ElicitationCapabilities)
        client_capabilities(agent.handler, meta={"acme": True})
        assert_type(Workspace(root).capabilities(), v1.FileSystemCapabilities)
        capabilities = assert_type(client_capabilities(agent.handler), v1.ClientCapabilities)
        await agent.initialize(protocol_version=1, client_capabilities=capabilities)
        await terminals.release_session("s")
        async for info in list_sessions(agent, cwd=root):
            async with open_session(agent, cwd=info.cwd, load=info.session_id) as session:
                for call in session.state.tool_calls.values():
                    assert_type(session.state.status_of(call), v1.ToolCallStatus | Literal["cancelled"] | None)
                await session.cancel()


def choose(request: v1.RequestPermissionRequest) -> str | None:
    return request.options[0].option_id


def script() -> None:
    registry = Registry.parse("{}")
    launch = assert_type(registry.resolve("agent"), Launch)
    with sync.spawn_agent(launch.command, *launch.args, env=launch.env, rules=[allow()], ask=choose) as agent:
        assert_type(agent.call(agent.remote.session_list), v1.ListSessionsResponse)
        with agent.open_session(cwd="/tmp") as session:
            assert_type(session.ask("hello", timeout=60), str)
            assert_type(session.state.text, str)
            with session.prompt("hello") as turn:
                for update in turn:
                    assert_type(update, v1.SessionUpdate)
            assert_type(turn.wait(), v1.PromptResponse)
            assert_type(turn.stop_reason, v1.StopReason | None)
    sync.spawn_agent("agent", client=BlockingClient).close()
    assert_type(registry.find_binary("agent"), Binary)


class BlockingClient(PermissionHandlers, UpdateHandlers, v1.Client):
    def __init__(self, agent: v1.RemoteAgent) -> None:
        self.agent = agent
        self.permissions = PermissionPolicy(ask=sync.in_waiting_thread(choose))
