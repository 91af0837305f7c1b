"""What each side advertised in `initialize`: what proxies show of it, and the log if it isn't implemented."""

from __future__ import annotations

import asyncio
import json
from importlib import import_module
from typing import Any
from unittest.mock import AsyncMock

import pytest

from acp_bindings import v2_draft as v2
from acp_bindings.v1 import (
    AgentCapabilities,
    AuthMethod,
    AuthMethodAgent,
    AuthMethodTerminal,
    ClientCapabilities,
    FileSystemCapabilities,
    InitializeRequest,
    InitializeResponse,
    RemoteAgent,
    RemoteClient,
)
from tests.runtime.connection.v2_peer import INITIALIZE_V2, AgentV2, calling_v2, serving_v2
from tests.support.runtime.peer import INITIALIZE, Link, PlainAgent, PlainClient, calling, serving


class Boastful(PlainAgent):
    """Advertises methods that it doesn't implement."""

    async def initialize(self, request: InitializeRequest, /) -> InitializeResponse:
        capabilities: dict[str, Any] = {
            "loadSession": True,
            "sessionCapabilities": {"list": {}, "close": None, "resume": {}},
        }
        return InitializeResponse.model_validate({"protocolVersion": 1, "agentCapabilities": capabilities})

    async def session_resume(self, request: Any, /) -> Any:
        raise AssertionError


async def test_an_agent_that_advertises_methods_it_does_not_implement_is_logged_once(
    link: Link, caplog: pytest.LogCaptureFixture
) -> None:
    async with serving(link, Boastful) as peer:
        await peer.call("initialize", INITIALIZE)
    errors = [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]
    assert len(errors) == 1
    assert "Boastful" in errors[0]
    assert "session/load" in errors[0]
    assert "session/list" in errors[0]
    assert "session/close" not in errors[0]
    assert "session/resume" not in errors[0]


async def test_an_agent_of_version_2_that_lacks_methods_of_sessions_is_logged(
    link: Link, caplog: pytest.LogCaptureFixture
) -> None:
    async with serving_v2(link):
        pass
    (error,) = [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]
    for method in ("session/list", "session/resume", "session/close", "session/cancel"):
        assert method in error


async def test_rule_30_logins_in_the_terminal_need_login_and_logout(
    link: Link, caplog: pytest.LogCaptureFixture
) -> None:
    class Terminal(AgentV2):  # type: ignore[misc]
        async def initialize(self, request: Any, /) -> Any:
            response = await super().initialize(request)
            return response.model_copy(update={"auth_methods": [v2.AuthMethodTerminal(method_id="t", name="T")]})

    async with serving_v2(link, Terminal, ready=False) as peer:
        await peer.call("initialize", {**INITIALIZE_V2, "capabilities": {"auth": {"terminal": {}}}})
    (error,) = (record.getMessage() for record in caplog.records if record.levelname == "ERROR")
    assert "auth/login, auth/logout" in error


async def test_rule_30_a_client_without_its_optional_notifications_is_not_logged(
    link: Link, caplog: pytest.LogCaptureFixture
) -> None:
    unstable = import_module("acp_bindings.v2_draft_unstable")
    capabilities = {"elicitation": {"url": {}}}

    class Asked(unstable.Client):  # type: ignore[misc,name-defined]
        async def session_update(self, notification: Any, /) -> None:
            raise AssertionError

        async def session_request_permission(self, request: Any, /) -> Any:
            raise AssertionError

        async def elicitation_create(self, request: Any, /) -> Any:
            raise AssertionError

    async with calling_v2(link, lambda _: Asked(), "v2_draft_unstable") as (agent, peer):
        info = unstable.Implementation(name="c", version="1")
        asked = unstable.ClientCapabilities.model_validate(capabilities)
        call = asyncio.create_task(agent.initialize(protocol_version=2, info=info, capabilities=asked))
        await peer.answer(result={"protocolVersion": 2, "info": {"name": "a", "version": "1"}})
        await call
    assert not [record for record in caplog.records if record.levelname in ("ERROR", "WARNING")]


async def test_a_method_that_is_an_attribute_of_the_agent_is_implemented(
    link: Link, caplog: pytest.LogCaptureFixture
) -> None:
    class Replaced(Boastful):
        def __init__(self, client: RemoteClient) -> None:
            super().__init__(client)
            vars(self).update(dict.fromkeys(("session_load", "session_list"), AsyncMock()))

    async with serving(link, Replaced):
        pass
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


async def test_rule_30_methods_that_are_implemented_and_not_advertised_are_logged_once(
    link: Link, caplog: pytest.LogCaptureFixture
) -> None:
    class Modest(PlainAgent):
        async def session_load(self, request: Any, /) -> Any:
            raise AssertionError

    for _ in range(2):  # also by another connection
        async with serving(link, Modest, ready=False) as peer:
            for _ in range(2):
                await peer.call("initialize", INITIALIZE)
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "Modest implements methods that it does not advertise" in caplog.text
    assert "session/load" in caplog.text


async def test_rule_30_a_method_whose_capability_is_false_in_the_message_is_not_logged(
    link: Link, caplog: pytest.LogCaptureFixture
) -> None:
    class Declining(PlainAgent):
        async def initialize(self, request: Any, /) -> Any:
            response = await super().initialize(request)
            return response.model_copy(update={"agent_capabilities": AgentCapabilities(load_session=False)})

        async def session_load(self, request: Any, /) -> Any:
            raise AssertionError

    async with serving(link, Declining):
        pass
    assert caplog.records == []


async def test_a_client_that_advertises_methods_it_does_not_implement_is_logged_once(
    link: Link, caplog: pytest.LogCaptureFixture
) -> None:
    capabilities = ClientCapabilities(fs=FileSystemCapabilities(read_text_file=True), terminal=False)
    async with calling(link, ready=False) as (agent, peer):
        for _ in range(2):
            call = asyncio.create_task(agent.initialize(protocol_version=1, client_capabilities=capabilities))
            await peer.answer(result={"protocolVersion": 1})
            await call
    errors = [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]
    assert len(errors) == 1
    assert "fs/read_text_file" in errors[0]
    assert "terminal" not in errors[0]


async def test_an_agent_with_logins_in_the_terminal_only_needs_no_authenticate(
    link: Link, caplog: pytest.LogCaptureFixture
) -> None:
    class Terminal(PlainAgent):
        async def initialize(self, request: InitializeRequest, /) -> InitializeResponse:
            return InitializeResponse(protocol_version=1, auth_methods=[AuthMethodTerminal(id="login", name="Log in")])

    async with serving(link, Terminal, ready=False) as peer:
        await peer.call("initialize", {"protocolVersion": 1, "clientCapabilities": {"auth": {"terminal": True}}})
    assert caplog.text == ""


async def test_an_agent_with_logins_of_its_own_needs_authenticate(link: Link, caplog: pytest.LogCaptureFixture) -> None:
    class Login(PlainAgent):
        async def initialize(self, request: InitializeRequest, /) -> InitializeResponse:
            logins: list[AuthMethod] = [
                AuthMethodTerminal(id="terminal", name="Log in"),
                AuthMethodAgent(id="browser", name="Log in"),
            ]
            return InitializeResponse(protocol_version=1, auth_methods=logins)

    async with serving(link, Login, ready=False) as peer:
        await peer.call("initialize", {"protocolVersion": 1, "clientCapabilities": {"auth": {"terminal": True}}})
    (error,) = [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]
    assert error.endswith(": authenticate")


async def test_a_factory_may_begin_to_initialize(link: Link, caplog: pytest.LogCaptureFixture) -> None:
    class Opening(PlainClient):
        def __init__(self, agent: RemoteAgent) -> None:
            super().__init__(agent)
            self.call: Any = agent.initialize(protocol_version=1)
            self.call.send(None)  # as an eager task does

    async with calling(link, Opening, ready=False) as (agent, peer):
        await peer.answer(result={"protocolVersion": 1})
        assert await peer.until_quiet() == []
        assert agent.supports("session/new")
    assert caplog.records == []


async def test_the_proxy_of_a_client_has_its_capabilities_and_info(link: Link) -> None:
    clients: list[RemoteClient] = []

    def factory(client: RemoteClient) -> PlainAgent:
        clients.append(client)
        return PlainAgent(client)

    info = {"name": "c", "version": "2"}
    params = {"protocolVersion": 1, "clientCapabilities": {"terminal": True}, "clientInfo": info}
    async with serving(link, factory, ready=False) as peer:
        await peer.call("initialize", params)
    (client,) = clients
    assert client.capabilities is not None
    assert client.capabilities.terminal is True
    assert client.peer_info is not None
    assert json.loads(client.peer_info.model_dump_json()) == info


async def test_a_proxy_has_the_capabilities_and_the_info_of_its_peer(link: Link) -> None:
    async with calling(link, ready=False) as (agent, peer):
        assert agent.capabilities is None
        assert agent.peer_info is None
        call = asyncio.create_task(agent.initialize(protocol_version=1))
        info = {"name": "a", "version": "2"}
        result: dict[str, Any] = {"protocolVersion": 1, "agentCapabilities": {"loadSession": True}, "agentInfo": info}
        await peer.answer(result=result)
        await call
        assert agent.capabilities is not None
        assert agent.capabilities.load_session is True
        assert agent.peer_info is not None
        assert json.loads(agent.peer_info.model_dump_json()) == info


async def test_logins_in_the_terminal_hide_no_other_method_that_is_missing(
    link: Link, caplog: pytest.LogCaptureFixture
) -> None:
    class Terminal(Boastful):
        async def initialize(self, request: InitializeRequest, /) -> InitializeResponse:
            login = AuthMethodTerminal(id="login", name="Log in")
            return (await super().initialize(request)).model_copy(update={"auth_methods": [login]})

    async with serving(link, Terminal, ready=False) as peer:
        await peer.call("initialize", {"protocolVersion": 1, "clientCapabilities": {"auth": {"terminal": True}}})
    (error,) = [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]
    assert error.endswith("session/list, session/load") or error.endswith("session/load, session/list")
