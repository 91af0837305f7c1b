"""Rules 25 and 26: `initialize`, early messages and versions."""

from __future__ import annotations

import asyncio
import json
from importlib import import_module
from typing import Any

import pytest

from acp_bindings.v1 import (
    CancelNotification,
    InitializeRequest,
    InitializeResponse,
    NewSessionRequest,
    NewSessionResponse,
    PromptRequest,
    PromptResponse,
)
from acp_bindings.v1.connect import AGENT_SIDE, CLIENT_SIDE
from acp_bindings.v2_draft.connect import AGENT_SIDE as V2_AGENT_SIDE
from acp_bindings.v2_draft.connect import CLIENT_SIDE as V2_CLIENT_SIDE
from acp_runtime import (
    ConnectionClosed,
    InvalidResponse,
    NotInitialized,
    Options,
    ProtocolVersionMismatch,
    RequestError,
    UnsupportedProtocolVersion,
)
from acp_runtime.connect import connect_in_process
from tests.support.runtime.any_profile import agent_of, client_of
from tests.support.runtime.peer import INITIALIZE, Link, Peer, PlainAgent, PlainClient, calling, prompt, serving, update

NEW: dict[str, Any] = {"cwd": "/", "mcpServers": []}
BEGIN: dict[str, Any] = {"id": "i", "method": "initialize", "params": INITIALIZE}
CREATE: dict[str, Any] = {"id": "n", "method": "session/new", "params": NEW}
CANCEL: dict[str, Any] = {"method": "session/cancel", "params": {"sessionId": "s1"}}
V2_INITIALIZE: dict[str, Any] = {"protocolVersion": 2, "capabilities": {}, "info": {"name": "n", "version": "1"}}
INVALID_VERSIONS: list[Any] = [True, False, "1", 1.5, -1, 65536, 2**70, None, [1], {}]


class Gated(PlainAgent):
    """Answers `initialize` when its gate is opened, for instance by `_go`, and records the order of messages."""

    def __init__(self, client: Any, error: BaseException | None = None) -> None:
        super().__init__(client)
        self.gate = asyncio.Event()
        self.error = error
        self.order: list[str] = []

    async def initialize(self, request: InitializeRequest, /) -> InitializeResponse:
        await self.gate.wait()
        if self.error is not None:
            raise self.error
        return await super().initialize(request)

    async def session_new(self, request: NewSessionRequest, /) -> NewSessionResponse:
        self.order.append("session/new")
        return await super().session_new(request)

    async def session_prompt(self, request: PromptRequest, /) -> PromptResponse:
        self.order.append("session/prompt")
        return await super().session_prompt(request)

    async def session_cancel(self, notification: CancelNotification, /) -> None:
        self.order.append("session/cancel")
        await super().session_cancel(notification)

    async def ext_request(self, method: str, params: Any) -> Any:
        self.gate.set()


async def _answers(peer: Peer, count: int) -> dict[Any, Any]:
    return {message["id"]: message for message in [await peer.receive() for _ in range(count)]}


def _codes(answers: dict[Any, Any]) -> dict[Any, Any]:
    return {id: answer.get("error", {}).get("code") for id, answer in answers.items()}


async def test_rule_25_messages_behind_initialize_wait_for_its_response_in_order(link: Link) -> None:
    agents: list[Gated] = []

    def factory(client: Any) -> Gated:
        agents.append(Gated(client))
        return agents[0]

    async with serving(link, factory, ready=False) as peer:
        await peer.send(BEGIN, CREATE, prompt("p"), CANCEL)
        assert await peer.until_quiet() == []
        assert agents[0].order == []
        await peer.send({"id": "go", "method": "_go"})
        found = [await peer.receive() for _ in range(4)]
        assert [message["id"] for message in found][:2] in (["go", "i"], ["i", "go"])
        assert {message["id"] for message in found[2:]} == {"n", "p"}
        await peer.until_quiet()
    assert agents[0].order[0] == "session/new"
    assert agents[0].order[-1] == "session/cancel"


@pytest.mark.parametrize("error", [RequestError(7, "no"), ValueError("bug"), asyncio.CancelledError(), SystemExit(1)])
async def test_rule_25_if_initialize_fails_early_requests_are_answered_invalid_request(
    link: Link, error: BaseException
) -> None:
    async with serving(link, lambda client: Gated(client, error), ready=False) as peer:
        await peer.send(BEGIN, CREATE, update("s1", "?"), prompt("p"), {"id": "go", "method": "_go"})
        answers = _codes(await _answers(peer, 4))
        assert answers["n"] == answers["p"] == -32600
        assert answers["i"] is not None
        assert await peer.until_quiet() == []


async def test_rule_25_after_a_failed_initialize_another_one_opens_the_connection(link: Link) -> None:
    agents: list[Gated] = []

    def factory(client: Any) -> Gated:
        agents.append(Gated(client, ValueError()))
        return agents[0]

    async with serving(link, factory, ready=False) as peer:
        await peer.send(BEGIN, CREATE, {"id": "go", "method": "_go"})
        assert _codes(await _answers(peer, 3)) == {"i": -32603, "n": -32600, "go": None}
        agents[0].error = None
        await peer.send({**BEGIN, "id": "j"}, CREATE)
        assert _codes(await _answers(peer, 2)) == {"j": None, "n": None}


@pytest.mark.parametrize("params", [{"protocolVersion": "x"}, {"protocolVersion": 2**70}, {}, None])
async def test_rule_25_requests_behind_an_invalid_initialize_are_too_early(link: Link, params: Any) -> None:
    async with serving(link, ready=False) as peer:
        await peer.send({**BEGIN, "params": params}, CREATE, prompt("p"))
        assert _codes(await _answers(peer, 3)) == {"i": -32602, "n": -32600, "p": -32600}


@pytest.mark.parametrize("params", [{}, None, [], {"cwd": 1}])
async def test_rule_25_before_initialize_requests_with_invalid_params_are_too_early(link: Link, params: Any) -> None:
    async with serving(link, ready=False) as peer:
        assert (await peer.call("session/new", params))["error"]["code"] == -32600
        await peer.call("initialize", INITIALIZE)
        assert (await peer.call("session/new", params))["error"]["code"] == -32602


async def test_rule_25_requests_with_invalid_params_behind_a_slow_initialize_wait(link: Link) -> None:
    async with serving(link, Gated, ready=False) as peer:
        await peer.send(BEGIN, {**CREATE, "params": {}})
        assert await peer.until_quiet() == []
        await peer.send({"id": "go", "method": "_go"})
        assert _codes(await _answers(peer, 3)) == {"i": None, "n": -32602, "go": None}


async def test_rule_25_requests_with_invalid_params_behind_a_failing_initialize_are_too_early(link: Link) -> None:
    async with serving(link, lambda client: Gated(client, ValueError()), ready=False) as peer:
        await peer.send(BEGIN, {**CREATE, "params": {}}, {"id": "go", "method": "_go"})
        assert _codes(await _answers(peer, 3)) == {"i": -32603, "n": -32600, "go": None}


async def test_rule_25_an_early_request_can_be_cancelled_at_once(link: Link) -> None:
    async with serving(link, Gated, ready=False) as peer:
        await peer.send(BEGIN, CREATE, prompt("p"), {"method": "$/cancel_request", "params": {"requestId": "p"}})
        answer = await peer.receive()
        assert (answer["id"], answer["error"]["code"]) == ("p", -32800)
        await peer.send({"id": "go", "method": "_go"})
        assert _codes(await _answers(peer, 3)) == {"i": None, "n": None, "go": None}


async def test_rule_25_initialize_itself_can_be_cancelled(link: Link) -> None:
    async with serving(link, Gated, ready=False) as peer:
        await peer.send(BEGIN, CREATE, {"method": "$/cancel_request", "params": {"requestId": "i"}})
        assert _codes(await _answers(peer, 2)) == {"i": -32800, "n": -32600}
        await peer.send(BEGIN, {"id": "go", "method": "_go"})
        assert _codes(await _answers(peer, 2)) == {"i": None, "go": None}


async def test_rule_25_two_concurrent_initialize_requests_are_both_answered(link: Link) -> None:
    async with serving(link, Gated, ready=False) as peer:
        await peer.send(BEGIN, {**BEGIN, "id": "j"}, CREATE, {"id": "go", "method": "_go"})
        assert _codes(await _answers(peer, 4)) == {"i": None, "j": None, "n": None, "go": None}


async def test_rule_25_a_second_initialize_is_answered_and_delays_nothing(link: Link) -> None:
    async with serving(link) as peer:
        await peer.send(BEGIN, CREATE, prompt("p"))
        assert _codes(await _answers(peer, 3)) == {"i": None, "n": None, "p": None}


async def test_rule_25_an_agent_may_call_its_client_inside_initialize(link: Link) -> None:
    class Asking(PlainAgent):
        async def initialize(self, request: InitializeRequest, /) -> InitializeResponse:
            await self.client.ext_request("_who")
            return await super().initialize(request)

    async with serving(link, Asking, ready=False) as peer:
        await peer.send(BEGIN, CREATE)
        asked = await peer.receive()
        await peer.send({"id": asked["id"], "result": None})
        assert [(await peer.receive())["id"] for _ in range(2)] == ["i", "n"]


@pytest.mark.parametrize("most", [1, 3])
async def test_rule_25_reading_pauses_for_early_requests_and_resumes_after_initialize(link: Link, most: int) -> None:
    agents: list[Gated] = []

    def factory(client: Any) -> Gated:
        agents.append(Gated(client))
        return agents[0]

    def count(direction: str, line: bytes, time: float) -> None:
        nonlocal received
        received += direction == "in"
        if received > most:
            early.set()

    received, early = 0, asyncio.Event()
    async with serving(link, factory, ready=False, high_water_messages=most, on_frame=count) as peer:
        sent = asyncio.create_task(peer.send(BEGIN, *(prompt(n) for n in range(200))))
        await early.wait()
        agents[0].gate.set()
        answers = _codes(await _answers(peer, 201))
        await sent
    assert answers == {"i": None, **dict.fromkeys(range(200))}
    assert agents[0].order == ["session/prompt"] * 200


@pytest.mark.parametrize("steps", [0, 1, 40])
async def test_rule_25_a_whole_session_can_be_piped_in(link: Link, steps: int) -> None:
    class Slow(PlainAgent):
        async def initialize(self, request: InitializeRequest, /) -> InitializeResponse:
            for _ in range(steps):
                await asyncio.sleep(0.001)
            return await super().initialize(request)

        async def session_new(self, request: NewSessionRequest, /) -> NewSessionResponse:
            for _ in range(steps):
                await asyncio.sleep(0.001)
            return await super().session_new(request)

        async def session_prompt(self, request: PromptRequest, /) -> PromptResponse:
            for _ in range(steps):
                await asyncio.sleep(0.001)
            return await super().session_prompt(request)

    async with serving(link, Slow, ready=False, eof_grace=30) as peer:
        await peer.send(BEGIN, CREATE, prompt("p"), prompt("q"))
        await peer.end()
        answers = {message["id"]: message["result"] for message in await peer.rest()}
    assert answers.keys() == {"i", "n", "p", "q"}
    assert answers["p"] == {"stopReason": "end_turn"}


async def test_rule_25_a_piped_session_beyond_the_high_water_mark_is_answered_completely(link: Link) -> None:
    async with serving(link, ready=False, high_water_messages=2, eof_grace=30) as peer:
        sent = asyncio.create_task(peer.send(BEGIN, *(prompt(n) for n in range(50))))
        await sent
        await peer.end()
        answers = {message["id"]: message.get("result") for message in await peer.rest()}
    assert answers.pop("i") is not None
    assert answers == {n: {"stopReason": "end_turn"} for n in range(50)}


async def test_rule_25_an_initialize_result_that_is_not_json_does_not_open_the_connection(link: Link) -> None:
    class Infinite(PlainAgent):
        async def initialize(self, request: InitializeRequest, /) -> InitializeResponse:
            return InitializeResponse(protocol_version=1, meta={"x": float("inf")})

    async with serving(link, Infinite, ready=False) as peer:
        await peer.send(BEGIN, CREATE)
        assert _codes(await _answers(peer, 2)) == {"i": -32603, "n": -32600}


@pytest.mark.parametrize("version", INVALID_VERSIONS)
async def test_rule_26_an_invalid_version_is_invalid_params(link: Link, version: Any) -> None:
    async with serving(link, ready=False) as peer:
        error = (await peer.call("initialize", {"protocolVersion": version}))["error"]
        assert error["code"] == -32602
        assert error["data"]["errors"][0]["path"].startswith("protocolVersion")
        assert (await peer.call("session/new", NEW))["error"]["code"] == -32600


async def test_rule_26_a_missing_version_is_invalid_params(link: Link) -> None:
    for side, factory in ((AGENT_SIDE, PlainAgent), (V2_AGENT_SIDE, agent_of(import_module("acp_bindings.v2_draft")))):
        async with serving(link, factory, ready=False, side=side) as peer:
            assert (await peer.call("initialize", {}))["error"]["code"] == -32602


@pytest.mark.parametrize("version", INVALID_VERSIONS)
async def test_rule_26_an_invalid_version_is_invalid_params_in_version_2(link: Link, version: Any) -> None:
    async with serving(link, agent_of(import_module("acp_bindings.v2_draft")), ready=False, side=V2_AGENT_SIDE) as peer:
        error = (await peer.call("initialize", {**V2_INITIALIZE, "protocolVersion": version}))["error"]
        assert error["code"] == -32602


@pytest.mark.parametrize("version", INVALID_VERSIONS)
async def test_rule_26_a_result_with_an_invalid_version_is_an_invalid_response(link: Link, version: Any) -> None:
    async with calling(link, ready=False) as (agent, peer):
        call = asyncio.create_task(agent.initialize(protocol_version=1))
        await peer.send({"id": (await peer.receive())["id"], "result": {"protocolVersion": version}})
        with pytest.raises(InvalidResponse):
            await call
        with pytest.raises(NotInitialized):
            await agent.session_new(cwd="/", mcp_servers=[])


@pytest.mark.parametrize("version", [0, 2, 2.0, 65535])
@pytest.mark.parametrize("rest", [{}, {"capabilities": 1, "agentCapabilities": [1], "authMethods": 7, "info": None}])
async def test_rule_26_a_result_in_another_version_is_a_mismatch_even_if_the_rest_is_invalid(
    link: Link, version: int, rest: Any
) -> None:
    async with calling(link, ready=False) as (agent, peer):
        call = asyncio.create_task(agent.initialize(protocol_version=1))
        other = asyncio.create_task(agent.ext_request("_x"))
        first, _ = await peer.receive(), await peer.receive()
        await peer.send({"id": first["id"], "result": {"protocolVersion": version, **rest}})
        with pytest.raises(ProtocolVersionMismatch) as caught:
            await call
        assert (caught.value.offered, caught.value.supported) == (version, 1)
        with pytest.raises(ConnectionClosed, match=f"version {int(version)}, "):
            await other
        with pytest.raises(ConnectionClosed):
            await agent.session_new(cwd="/", mcp_servers=[])
        assert await peer.rest() == []


async def test_rule_26_a_version_2_initialize_is_answered_by_a_version_1_agent_with_1(link: Link) -> None:
    async with serving(link, ready=False) as peer:
        for params in (V2_INITIALIZE, {"protocolVersion": 2, "clientCapabilities": 7, "clientInfo": [1]}):
            assert (await peer.call("initialize", params))["result"]["protocolVersion"] == 1


@pytest.mark.parametrize("params", [INITIALIZE, {"protocolVersion": 0}, {**V2_INITIALIZE, "protocolVersion": 1}])
async def test_rule_26_a_version_2_agent_refuses_a_lower_version(link: Link, params: Any) -> None:
    async with serving(link, agent_of(import_module("acp_bindings.v2_draft")), ready=False, side=V2_AGENT_SIDE) as peer:
        await peer.send({**BEGIN, "params": params}, CREATE)
        answers = await _answers(peer, 2)
        assert answers["i"]["error"]["code"] == -32022
        assert answers["i"]["error"]["data"] == {"supported": [2]}
        assert answers["n"]["error"]["code"] == -32600
        await peer.send({**BEGIN, "params": V2_INITIALIZE})
        assert (await peer.receive())["result"]["protocolVersion"] == 2


async def test_rule_26_a_version_2_agent_answers_a_higher_version_with_its_own(link: Link) -> None:
    async with serving(link, agent_of(import_module("acp_bindings.v2_draft")), ready=False, side=V2_AGENT_SIDE) as peer:
        params: dict[str, Any] = {**V2_INITIALIZE, "protocolVersion": 3}
        assert (await peer.call("initialize", params))["result"]["protocolVersion"] == 2


def _v2_keywords() -> dict[str, Any]:
    acp = import_module("acp_bindings.v2_draft")
    info = acp.Implementation(name="c", version="1")
    return {"protocol_version": 2, "info": info, "capabilities": acp.ClientCapabilities()}


async def test_rule_26_a_version_1_client_of_a_version_2_agent_gets_its_refusal() -> None:
    agent = agent_of(import_module("acp_bindings.v2_draft"))
    async with connect_in_process(V2_AGENT_SIDE, agent, CLIENT_SIDE, PlainClient, Options()) as remote:
        with pytest.raises(UnsupportedProtocolVersion) as caught:
            await remote.initialize(protocol_version=1)
        assert caught.value.data == {"supported": [2]}
        with pytest.raises(NotInitialized):
            await remote.session_new(cwd="/", mcp_servers=[])


async def test_rule_26_a_version_2_client_of_a_version_1_agent_gets_a_mismatch() -> None:
    client = client_of(import_module("acp_bindings.v2_draft"), [])
    async with connect_in_process(AGENT_SIDE, PlainAgent, V2_CLIENT_SIDE, client, Options()) as remote:
        with pytest.raises(ProtocolVersionMismatch, match=r"version 1, .* version 2"):
            await remote.initialize(**_v2_keywords())
        with pytest.raises(ConnectionClosed):
            await remote.session_new(cwd="/", mcp_servers=[])
        assert "version 1" in (await remote.wait_closed()).reason


async def test_rule_25_calls_before_initialize_on_a_closed_connection_raise_connection_closed(link: Link) -> None:
    async with calling(link, ready=False) as (agent, peer):
        await peer.end()
        await agent.wait_closed()
        for call in (agent.session_new(cwd="/", mcp_servers=[]), agent.session_cancel(session_id="s")):
            with pytest.raises(ConnectionClosed):
                await call


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


async def test_a_client_that_advertises_methods_it_does_not_implement_is_logged_once(
    link: Link, caplog: pytest.LogCaptureFixture
) -> None:
    acp = import_module("acp_bindings.v1")
    capabilities = acp.ClientCapabilities(fs=acp.FileSystemCapabilities(read_text_file=True), terminal=False)
    async with calling(link, ready=False) as (agent, peer):
        for _ in range(2):
            call = asyncio.create_task(agent.initialize(protocol_version=1, client_capabilities=capabilities))
            await peer.send({"id": (await peer.receive())["id"], "result": {"protocolVersion": 1}})
            await call
    errors = [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]
    assert len(errors) == 1
    assert "fs/read_text_file" in errors[0]
    assert "terminal" not in errors[0]


async def test_advertised_methods_that_are_implemented_are_not_logged(
    link: Link, caplog: pytest.LogCaptureFixture
) -> None:
    class Honest(PlainAgent):
        async def initialize(self, request: InitializeRequest, /) -> InitializeResponse:
            capabilities: dict[str, Any] = {"loadSession": True}
            return InitializeResponse.model_validate({"protocolVersion": 1, "agentCapabilities": capabilities})

        async def session_load(self, request: Any, /) -> Any:
            raise AssertionError

    async with serving(link, Honest):
        pass
    assert caplog.text == ""


async def test_a_proxy_has_the_capabilities_and_the_info_of_its_peer(link: Link) -> None:
    async with calling(link, ready=False) as (agent, peer):
        assert agent.capabilities is None
        assert agent.peer_info is None
        call = asyncio.create_task(agent.initialize(protocol_version=1))
        info = {"name": "a", "version": "2"}
        result: dict[str, Any] = {"protocolVersion": 1, "agentCapabilities": {"loadSession": True}, "agentInfo": info}
        await peer.send({"id": (await peer.receive())["id"], "result": result})
        await call
        assert agent.capabilities is not None
        assert agent.capabilities.load_session is True
        assert agent.peer_info is not None
        assert json.loads(agent.peer_info.model_dump_json()) == info


async def test_an_agents_proxy_has_the_capabilities_and_the_info_of_the_client(link: Link) -> None:
    class Curious(PlainAgent):
        async def ext_request(self, method: str, params: Any) -> Any:
            capabilities, info = self.client.capabilities, self.client.peer_info
            return [capabilities and capabilities.terminal, info and info.name, self.client.supports("terminal/create")]

    async with serving(link, Curious, ready=False) as peer:
        assert (await peer.call("_said"))["result"] == [None, None, False]
        params: dict[str, Any] = {
            "protocolVersion": 1,
            "clientCapabilities": {"terminal": True},
            "clientInfo": {"name": "c", "version": ""},
        }
        await peer.call("initialize", params)
        assert (await peer.call("_said"))["result"] == [True, "c", True]
