"""What both sides advertise, and logins, through `as_v2`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from acp_bindings import v1
from acp_bindings.v2_draft.connecting import AGENT_SIDE
from acp_kit.versions import as_v2
from acp_runtime import InternalError
from tests.support.kit.behind_v2 import INFO, AgentV1, connected, without_guards
from tests.support.recording_factory import RecordingFactory
from tests.support.runtime.peer import LINKS, Peer, calling, serving


async def test_the_agents_capabilities_and_info_have_the_places_of_version_2() -> None:
    class Able(AgentV1):
        async def initialize(self, request: v1.InitializeRequest) -> v1.InitializeResponse:
            return v1.InitializeResponse(
                protocol_version=1,
                agent_info=v1.Implementation(name="able", version="2"),
                agent_capabilities=v1.AgentCapabilities(
                    load_session=False,
                    prompt_capabilities=v1.PromptCapabilities(image=True, audio=False),
                    mcp_capabilities=v1.McpCapabilities(http=True, sse=True),
                    session_capabilities=v1.SessionCapabilities(
                        additional_directories=v1.SessionAdditionalDirectoriesCapabilities()
                    ),
                    meta={"own": 1},
                ),
            )

    async with connected(Able) as (_, result):
        assert result == {
            "protocolVersion": 2,
            "info": {"name": "able", "version": "2"},
            "capabilities": {
                "session": {
                    "prompt": {"image": {}},
                    "mcp": {"stdio": {}, "http": {}},
                    "additionalDirectories": {},
                },
                "_meta": {"own": 1},
            },
            "authMethods": [],
        }


async def test_capabilities_whose_methods_are_not_passed_on_are_left_out() -> None:
    class Unstable(AgentV1):
        capabilities = v1.AgentCapabilities.model_validate({"sessionCapabilities": {"fork": {}}, "providers": {}})

    factory = RecordingFactory(Unstable)
    async with connected(factory, {"nes": {}}) as (_, result):
        assert result["capabilities"] == {"session": {"prompt": {}, "mcp": {"stdio": {}}}}
    assert factory.handler.initialized is not None
    assert "nes" not in factory.handler.initialized.client_capabilities.model_dump()


@pytest.mark.parametrize("response", [{"protocolVersion": 2}, {"version": 1}])
async def test_an_agent_of_another_version_or_of_none_is_an_error_with_the_reason(response: Any) -> None:
    async def answer(peer: Peer) -> None:
        await peer.answer(result=response)

    @asynccontextmanager
    async def open(make_client: Any) -> AsyncGenerator[Any]:
        async with calling(LINKS["memory"], make_client, ready=False) as (agent, peer):
            answering = asyncio.create_task(answer(peer))
            yield agent
            await answering

    async with serving(LINKS["memory"], as_v2(open=open), side=AGENT_SIDE, ready=False) as peer:
        error = (await peer.call("initialize", {"protocolVersion": 2, "info": INFO}))["error"]
        assert (error["code"], "rotocol" in error["message"]) == (-32603, True)


async def test_the_agent_gets_the_client_without_files_and_terminals() -> None:
    factory = RecordingFactory(AgentV1)
    async with connected(factory, {"auth": {"terminal": {}}, "elicitation": {"form": {}}}) as (_, result):
        assert result["info"] == {"name": "unknown", "version": "unknown"}
    assert factory.handler.initialized is not None
    assert factory.handler.initialized.model_dump() == {
        "protocolVersion": 1,
        "clientInfo": INFO,
        "clientCapabilities": {
            "elicitation": {"form": {}},
            "fs": {"readTextFile": False, "writeTextFile": False},
            "terminal": False,
            "auth": {"terminal": True},
            "session": {"compaction": {}, "configOptions": {"boolean": {}}, "notices": {}},
        },
    }


async def test_logins_have_types_and_ids_of_methods() -> None:
    class Login(AgentV1):
        logins: Any = ()

        async def initialize(self, request: v1.InitializeRequest) -> v1.InitializeResponse:
            methods: list[v1.AuthMethod] = [v1.AuthMethodAgent(id="key", name="A key")]
            if request.client_capabilities.auth.terminal:
                methods.append(v1.AuthMethodTerminal(id="tty", name="A terminal", env={"A": "b"}))
            return v1.InitializeResponse(protocol_version=1, auth_methods=methods)

        async def authenticate(self, request: v1.AuthenticateRequest) -> v1.AuthenticateResponse:
            self.logins = (*self.logins, request.method_id)
            return v1.AuthenticateResponse()

    factory = RecordingFactory(Login)
    async with connected(factory, {"auth": {"terminal": {}}}) as (peer, result):
        assert result["authMethods"] == [
            {"type": "agent", "methodId": "key", "name": "A key"},
            {"type": "terminal", "methodId": "tty", "name": "A terminal", "env": [{"name": "A", "value": "b"}]},
        ]
        assert (await peer.call("auth/login", {"methodId": "key"}))["result"] == {}
        assert (await peer.call("auth/logout", {}))["error"]["code"] == -32601
    assert factory.handler.logins == ("key",)
    async with connected(Login) as (_, result):
        assert [method["methodId"] for method in result["authMethods"]] == ["key"]


async def test_logins_in_the_terminal_are_left_out_if_the_client_has_none() -> None:
    class Login(AgentV1):
        async def initialize(self, request: v1.InitializeRequest) -> v1.InitializeResponse:
            return v1.InitializeResponse(protocol_version=1, auth_methods=[v1.AuthMethodTerminal(id="tty", name="A")])

    async with connected(open=without_guards(Login)) as (_, result):
        assert result["authMethods"] == []


async def test_extension_methods_pass_in_both_directions() -> None:
    class Extended(AgentV1):
        async def ext_request(self, method: str, params: Any) -> Any:
            return {"method": method, "params": params, "theirs": await self.client.ext_request("_yours", {"x": 1})}

        async def ext_notification(self, method: str, params: Any) -> None:
            await self.client.ext_notification(method, params)

    async with connected(Extended) as (peer, _):
        await peer.send({"method": "_note", "params": {"n": 1}})
        assert await peer.receive() == {"jsonrpc": "2.0", "method": "_note", "params": {"n": 1}}
        await peer.send({"id": 5, "method": "_mine", "params": {"a": 1}})
        asked = await peer.receive()
        assert (asked["method"], asked["params"]) == ("_yours", {"x": 1})
        await peer.send({"id": asked["id"], "result": 7})
        assert (await peer.receive())["result"] == {"method": "_mine", "params": {"a": 1}, "theirs": 7}


async def test_a_factory_that_fails_is_an_error_of_initialize() -> None:
    def failing(client: v1.RemoteClient) -> AgentV1:
        raise InternalError("no model")

    async with connected(failing) as (_, result):
        assert result is None


def test_as_v2_needs_an_agent() -> None:
    make: Any = as_v2
    with pytest.raises(TypeError, match="open="):
        make()
