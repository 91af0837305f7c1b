"""A client advertises what its optional bases handle. A permission request is completed by what its session knows."""

from __future__ import annotations

import weakref
from pathlib import Path
from typing import Any

import pytest

from acp_bindings import v1
from acp_bindings.v1 import ClientCapabilities, FileSystemCapabilities
from acp_kit.agent import Turn
from acp_kit.client import (
    ElicitationHandlers,
    FileHandlers,
    PermissionHandlers,
    PermissionPolicy,
    TerminalHandlers,
    Terminals,
    UpdateHandlers,
    Workspace,
    allow,
    client_capabilities,
    deliver_update,
    open_session,
)
from acp_kit.testing import ScriptedAgent, connect
from tests.support.kit.turns import ActingAgent, KeepingClient, Viewer


class _Everything(FileHandlers, TerminalHandlers, KeepingClient):
    def __init__(self, root: Path) -> None:
        self.workspace = Workspace(root)
        self.terminals = Terminals(root)


class _Reader(FileHandlers, KeepingClient):
    def __init__(self, root: Path) -> None:
        self.workspace = Workspace(root, read_only=True)


class _Runner(TerminalHandlers, KeepingClient):
    def __init__(self, root: Path) -> None:
        self.terminals = Terminals(root)


class _Asker(PermissionHandlers, KeepingClient):
    def __init__(self) -> None:
        self.permissions = PermissionPolicy()


def test_a_client_advertises_the_handlers_of_its_bases_and_extensions(tmp_path: Path) -> None:
    files = FileSystemCapabilities(read_text_file=True, write_text_file=True)
    assert client_capabilities(_Everything(tmp_path)) == ClientCapabilities(fs=files, terminal=True)
    reading = FileSystemCapabilities(read_text_file=True, write_text_file=False)
    assert client_capabilities(_Reader(tmp_path)) == ClientCapabilities(fs=reading)
    assert client_capabilities(_Runner(tmp_path), meta={"x": 1}) == ClientCapabilities(terminal=True, meta={"x": 1})
    assert client_capabilities(_Asker()) == ClientCapabilities()


async def _say_hello(turn: Turn) -> None:
    await turn.say("hello")


def _agent(client: v1.RemoteClient) -> v1.Agent:
    return ActingAgent(client, [_say_hello], [])


@pytest.mark.parametrize(
    ("base", "attribute"),
    [
        (UpdateHandlers, "agent"),
        (FileHandlers, "workspace"),
        (TerminalHandlers, "terminals"),
        (PermissionHandlers, "permissions"),
        (ElicitationHandlers, "elicitations"),
    ],
)
async def test_a_client_that_has_not_set_what_its_handlers_use_opens_no_session(base: Any, attribute: str) -> None:
    class Unfinished(base, KeepingClient):  # type: ignore[misc]
        def __init__(self, agent: v1.RemoteAgent) -> None:
            pass

    advice = f"Unfinished inherits {base.__name__}, so it must set `self.{attribute}`, for example in `__init__`"
    async with v1.connect_in_process(_agent, Unfinished) as agent:
        await agent.initialize(protocol_version=1)
        if base is not UpdateHandlers:
            with pytest.raises(TypeError, match=advice):
                client_capabilities(agent.handler)
        with pytest.raises(TypeError, match=advice):
            async with open_session(agent, cwd="/work"):
                pass


async def test_a_client_that_two_agents_share_opens_no_session_of_the_first_one() -> None:
    clients: list[Viewer] = []

    def share(agent: v1.RemoteAgent) -> Viewer:
        clients[:] = clients or [Viewer(agent)]
        clients[0].agent = agent
        return clients[0]

    async with (
        v1.connect_in_process(_agent, share) as first,
        v1.connect_in_process(_agent, share) as second,
    ):
        await first.initialize(protocol_version=1)
        await second.initialize(protocol_version=1)
        for wrong in (second, None):
            clients[0].agent = wrong  # type: ignore[assignment]
            with pytest.raises(TypeError, match="is not the agent of the session"):
                async with open_session(first, cwd="/work"):
                    pass
        clients[0].agent = second
        async with open_session(second, cwd="/work") as session:
            assert await session.ask("go") == "hello"


class _SetsAgentLater(Viewer):
    def __init__(self, agent: v1.RemoteAgent) -> None:
        self.permissions = PermissionPolicy()


class _WeakAgent(Viewer):
    def __init__(self, agent: v1.RemoteAgent) -> None:
        super().__init__(weakref.proxy(agent))


class _FailingProperty(Viewer):
    @property
    def permissions(self) -> PermissionPolicy:
        raise LookupError("there is no window yet")

    @permissions.setter
    def permissions(self, _: PermissionPolicy) -> None: ...


class _OwnHandlers(UpdateHandlers, PermissionHandlers, v1.Client):
    def __init__(self, agent: v1.RemoteAgent) -> None:
        self.remote = agent

    async def session_update(self, notification: v1.SessionNotification, /) -> None:
        deliver_update(self.remote, notification)

    async def session_request_permission(self, request: v1.RequestPermissionRequest, /) -> v1.RequestPermissionResponse:
        raise AssertionError


@pytest.mark.parametrize("client", [_SetsAgentLater, _WeakAgent, _FailingProperty, _OwnHandlers])
async def test_a_client_opens_sessions_however_it_sets_what_its_handlers_use(client: Any) -> None:
    async with v1.connect_in_process(_agent, client) as agent:
        capabilities = client_capabilities(agent.handler)
        await agent.initialize(protocol_version=1, client_capabilities=capabilities)
        if client is _SetsAgentLater:
            vars(agent.handler)["agent"] = agent
        async with open_session(agent, cwd="/work") as session:
            assert await session.ask("go") == "hello"


START = {"toolCallId": "1", "title": "Read a", "kind": "read", "locations": [{"path": "/root/a"}], "rawInput": {"a": 1}}

# What is known of a tool call, what the request says, and what the rules and the user see.
REQUESTS: dict[str, tuple[list[dict[str, Any]], dict[str, Any], dict[str, Any]]] = {
    "only the id": ([START], {}, START),
    "another kind": ([START], {"kind": "edit"}, {**START, "kind": "edit"}),
    "other files": ([START], {"locations": [{"path": "/etc"}]}, {**START, "locations": [{"path": "/etc"}]}),
    "null": ([START], {"title": None, "kind": None}, START),
    "an unknown id": ([START], {"toolCallId": "2"}, {"toolCallId": "2"}),
    "an id that is used again": ([{**START, "status": "completed"}], {}, {"toolCallId": "1"}),
    "nothing": ([], {"title": "Read b"}, {"toolCallId": "1", "title": "Read b"}),
    "keys that are named like fields of Python": ([{**START, "raw_input": 3}], {"meta": 3}, {**START, "meta": 3}),
}


@pytest.mark.parametrize("case", REQUESTS)
async def test_a_request_has_the_tool_call_as_the_session_knows_it(case: str) -> None:
    known, sent, seen = REQUESTS[case]
    asked: list[Any] = []

    async def user(request: v1.RequestPermissionRequest) -> str:
        asked.append(request.tool_call.model_dump(mode="json", by_alias=True, exclude_unset=True))
        return "yes"

    async with connect(ScriptedAgent(), Viewer) as session:
        for value in known:
            session.state.apply(v1.SessionUpdateToolCall.model_validate({"sessionUpdate": "tool_call", **value}))
        client: Any = session.agent.handler
        client.permissions = PermissionPolicy(allow(kinds={"delete"}), ask=user)
        options = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]
        request = {"toolCall": {"toolCallId": "1", **sent}, "sessionId": session.id, "options": options}
        parsed = v1.RequestPermissionRequest.model_validate(request)
        answer = await client.session_request_permission(parsed)
    assert answer.outcome.option_id == "yes"
    assert asked == [seen]


async def test_a_request_for_a_session_that_nobody_opened_is_answered() -> None:
    async def act(turn: Any) -> None:
        options = [v1.PermissionOption(option_id="yes", name="Yes", kind="allow_once")]
        call = v1.ToolCallUpdate(tool_call_id="1", kind="read")
        client = turn.session.client
        answer = await client.session_request_permission(session_id="subagent", tool_call=call, options=options)
        await turn.say(answer.outcome.option_id)

    async with connect(ScriptedAgent(act), Viewer) as session:
        handler: Any = session.agent.handler
        handler.permissions = PermissionPolicy(allow(kinds={"read"}))
        assert await session.ask("go") == "yes"
        assert not session.state.tool_calls
