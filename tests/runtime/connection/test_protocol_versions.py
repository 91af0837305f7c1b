"""Rule 26: the version of the protocol that `initialize` agrees on."""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import Any

import pytest

from acp_bindings.v1.connecting import AGENT_SIDE, CLIENT_SIDE
from acp_bindings.v2_draft.connecting import AGENT_SIDE as V2_AGENT_SIDE, CLIENT_SIDE as V2_CLIENT_SIDE
from acp_runtime import (
    ConnectionClosed,
    InvalidResponse,
    NotInitialized,
    ProtocolVersionMismatch,
    UnsupportedProtocolVersion,
)
from acp_runtime.connect import Connector
from acp_runtime.stubs.sides import Side
from tests.support.runtime.any_profile import agent_of, client_of
from tests.support.runtime.peer import INITIALIZE, Link, PlainAgent, PlainClient, calling, serving

NEW: dict[str, Any] = {"cwd": "/", "mcpServers": []}
BEGIN: dict[str, Any] = {"id": "i", "method": "initialize", "params": INITIALIZE}
CREATE: dict[str, Any] = {"id": "n", "method": "session/new", "params": NEW}
V2_INITIALIZE: dict[str, Any] = {"protocolVersion": 2, "capabilities": {}, "info": {"name": "n", "version": "1"}}
INVALID_VERSIONS: list[Any] = [True, False, "1", 1.5, -1, 65536, 2**70, None, [1], {}]


@pytest.mark.parametrize("version", INVALID_VERSIONS)
async def test_rule_26_an_invalid_version_is_invalid_params(link: Link, version: Any) -> None:
    async with serving(link, ready=False) as peer:
        assert (await peer.call("initialize", {}))["error"]["code"] == -32602
        error = (await peer.call("initialize", {"protocolVersion": version}))["error"]
        assert error["code"] == -32602
        assert error["data"]["errors"][0]["path"].startswith("protocolVersion")
        assert (await peer.call("session/new", NEW))["error"]["code"] == -32600


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


async def test_rule_26_a_version_1_agent_answers_a_higher_version_with_1(link: Link) -> None:
    async with serving(link, ready=False) as peer:
        for params in (V2_INITIALIZE, {"protocolVersion": 65535}, {"protocolVersion": 2, "clientCapabilities": 7}):
            assert (await peer.call("initialize", params))["result"]["protocolVersion"] == 1


@pytest.mark.parametrize("params", [INITIALIZE, {"protocolVersion": 0}, {**V2_INITIALIZE, "protocolVersion": 1}])
async def test_rule_26_a_version_2_agent_refuses_a_lower_version(link: Link, params: Any) -> None:
    async with serving(link, agent_of(import_module("acp_bindings.v2_draft")), ready=False, side=V2_AGENT_SIDE) as peer:
        await peer.send({**BEGIN, "params": params}, CREATE)
        answers = {each["id"]: each for each in [await peer.receive(), await peer.receive()]}
        assert answers["i"]["error"]["code"] == -32022
        assert answers["i"]["error"]["data"] == {"requested": params["protocolVersion"], "supported": [2]}
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


def _between(agent: Side[Any], client: Side[Any]) -> Connector[Any, Any, Any, Any]:
    return Connector(agent, client)


async def test_rule_26_a_version_1_client_of_a_version_2_agent_gets_its_refusal() -> None:
    agent = agent_of(import_module("acp_bindings.v2_draft"))
    async with _between(V2_AGENT_SIDE, CLIENT_SIDE).connect_in_process(agent, PlainClient) as remote:
        with pytest.raises(UnsupportedProtocolVersion) as caught:
            await remote.initialize(protocol_version=1)
        assert caught.value.data == {"requested": 1, "supported": [2]}
        with pytest.raises(NotInitialized):
            await remote.session_new(cwd="/", mcp_servers=[])


async def test_rule_26_a_version_2_client_of_a_version_1_agent_gets_a_mismatch() -> None:
    client = client_of(import_module("acp_bindings.v2_draft"), [])
    async with _between(AGENT_SIDE, V2_CLIENT_SIDE).connect_in_process(PlainAgent, client) as remote:
        with pytest.raises(ProtocolVersionMismatch, match=r"version 1, .* version 2"):
            await remote.initialize(**_v2_keywords())
        with pytest.raises(ConnectionClosed):
            await remote.session_new(cwd="/", mcp_servers=[])
        assert "version 1" in (await remote.wait_closed()).reason
