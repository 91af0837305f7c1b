"""Rule 26: the version of the protocol that `initialize` agrees on."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from acp_runtime import ConnectionClosed, InvalidResponse, NotInitialized, ProtocolVersionMismatch
from tests.runtime.connection.v2_peer import serving_v2
from tests.support.runtime.peer import INITIALIZE, Link, calling, serving

NEW: dict[str, Any] = {"cwd": "/", "mcpServers": []}
BEGIN: dict[str, Any] = {"id": "i", "method": "initialize", "params": INITIALIZE}
CREATE: dict[str, Any] = {"id": "n", "method": "session/new", "params": NEW}
V2_INITIALIZE: dict[str, Any] = {"protocolVersion": 2, "capabilities": {}, "info": {"name": "n", "version": "1"}}
INVALID_VERSIONS: list[Any] = [True, False, "1", 1.5, 2.5, -1, 65536, 2**70, None, [1], {}]


@pytest.mark.parametrize("version", INVALID_VERSIONS)
async def test_rule_26_an_invalid_version_is_invalid_params(link: Link, version: Any) -> None:
    async with serving(link, ready=False) as peer:
        assert (await peer.call("initialize", {}))["error"]["code"] == -32602
        error = (await peer.call("initialize", {"protocolVersion": version}))["error"]
        assert error["code"] == -32602
        assert error["data"]["errors"][0]["path"].startswith("protocolVersion")
        assert (await peer.call("session/new", NEW))["error"]["code"] == -32600


@pytest.mark.parametrize("version", INVALID_VERSIONS)
async def test_rule_26_a_result_with_an_invalid_version_is_an_invalid_response(link: Link, version: Any) -> None:
    async with calling(link, ready=False) as (agent, peer):
        call = asyncio.create_task(agent.initialize(protocol_version=1))
        await peer.answer(result={"protocolVersion": version})
        with pytest.raises(InvalidResponse):
            await call
        with pytest.raises(NotInitialized):
            await agent.session_new(cwd="/", mcp_servers=[])


@pytest.mark.parametrize("version", [0, 2, 2.0, 65535])
@pytest.mark.parametrize("rest", [{}, {"capabilities": 1, "agentCapabilities": [1], "authMethods": 7, "info": None}])
async def test_rule_26_another_version_is_a_mismatch_even_in_an_invalid_result(
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
    async with serving_v2(link, ready=False) as peer:
        await peer.send({**BEGIN, "params": params}, CREATE)
        answers = {message["id"]: message for message in [await peer.receive(), await peer.receive()]}
        assert answers["i"]["error"]["code"] == -32022
        assert answers["i"]["error"]["data"] == {"requested": params["protocolVersion"], "supported": [2]}
        assert answers["n"]["error"]["code"] == -32600
        await peer.send({**BEGIN, "params": V2_INITIALIZE})
        assert (await peer.receive())["result"]["protocolVersion"] == 2


async def test_rule_26_a_version_2_agent_answers_a_higher_version_with_its_own(link: Link) -> None:
    async with serving_v2(link, ready=False) as peer:
        params: dict[str, Any] = {**V2_INITIALIZE, "protocolVersion": 3}
        assert (await peer.call("initialize", params))["result"]["protocolVersion"] == 2


async def test_rule_26_only_initialize_agrees_on_a_version(link: Link) -> None:
    async with calling(link) as (agent, peer):
        call = asyncio.ensure_future(agent.session_new(cwd="/", mcp_servers=[]))
        await peer.answer(result={"sessionId": "s", "protocolVersion": 9})
        assert (await call).session_id == "s"


@pytest.mark.parametrize(("version", "code"), [(2, -32602), (3, -32022)])
async def test_rule_26_params_without_required_keys_of_version_2_are_invalid_or_another_version(
    link: Link, version: int, code: int
) -> None:
    async with serving_v2(link, ready=False) as peer:
        assert (await peer.call("initialize", {"protocolVersion": version}))["error"]["code"] == code


async def test_rule_26_without_guards_each_side_handles_any_version(link: Link) -> None:
    async with serving(link, ready=False, guards="off") as peer:
        assert (await peer.call("initialize", {"protocolVersion": 7}))["result"]["protocolVersion"] == 7
    async with calling(link, ready=False, guards="off") as (agent, peer):
        call = asyncio.create_task(agent.initialize(protocol_version=1))
        await peer.answer(result={"protocolVersion": 7})
        assert (await call).protocol_version == 7
    async with serving_v2(link, ready=False, guards="off") as peer:
        assert (await peer.call("initialize", {"protocolVersion": 3}))["error"]["code"] == -32602
