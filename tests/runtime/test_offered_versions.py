"""A client that offers several versions: the newest first, and afresh for an agent that is older."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

import acp_bindings
from acp_bindings import v1
from acp_runtime import InternalError, InvalidRequest, ProtocolVersionMismatch, UnsupportedProtocolVersion
from acp_runtime.transports import Transport
from tests.support.runtime.any_profile import PROFILES, agent_of, client_of, opening
from tests.support.runtime.queue_transport import QueueTransport, queue_transports

PACKAGES = {name: import_module(f"acp_bindings.{name}") for name in PROFILES}


def offer(profile: str) -> Any:
    acp = PACKAGES[profile]
    return client_of(acp, []), lambda agent: agent.initialize(**opening(acp))


class Agents:
    """Opens transports to agents, one for each connection.

    Attributes:
        transports: this side's.
        serving: the agents.
    """

    def __init__(self, serve: Callable[[Transport], Any]) -> None:
        self._serve = serve
        self.transports: list[QueueTransport] = []
        self.serving: list[asyncio.Task[Any]] = []

    async def open(self) -> Transport:
        ours, theirs = queue_transports()
        self.transports.append(ours)
        self.serving.append(asyncio.create_task(self._serve(theirs)))
        return ours

    async def end(self) -> None:
        """Wait until all agents have ended. Each transport was closed, and before the next one was opened."""
        await asyncio.gather(*self.serving)
        assert [transport.closed for transport in self.transports] == [1] * len(self.transports)


def agents(*profiles: str) -> Agents:
    factories: dict[str, Any] = {profile: agent_of(PACKAGES[profile]) for profile in profiles}
    return Agents(lambda transport: acp_bindings.serve(transport, **factories))


def answering(answer: Callable[[Any], dict[str, Any]]) -> Agents:
    """Return agents that answer `initialize` with this, given its params, and then wait for the end."""

    async def serve(transport: Transport) -> None:
        message = json.loads(await transport.receive())
        reply = {"jsonrpc": "2.0", "id": message["id"], **answer(message["params"])}
        await transport.send(json.dumps(reply).encode() + b"\n")
        assert await transport.receive() == b""
        await transport.close()

    return Agents(serve)


@pytest.mark.parametrize(
    ("served", "offered", "agreed", "connections"),
    [
        (("v1", "v2_draft"), ("v1", "v2_draft"), "v2_draft", 1),
        (("v1",), ("v1", "v2_draft"), "v1", 2),
        (("v2_draft",), ("v1", "v2_draft"), "v2_draft", 1),
        (("v1", "v2_draft"), ("v1",), "v1", 1),
        (("v1", "v2_draft"), ("v2_draft",), "v2_draft", 1),
        (("v1_unstable", "v2_draft_unstable"), ("v1_unstable", "v2_draft_unstable"), "v2_draft_unstable", 1),
        (("v1_unstable",), ("v1", "v2_draft_unstable"), "v1", 2),
    ],
)
async def test_client_and_agent_agree_on_the_newest_version_of_both(
    served: tuple[str, ...], offered: tuple[str, ...], agreed: str, connections: int
) -> None:
    there = agents(*served)
    async with acp_bindings.connect(there.open, **{version: offer(version) for version in offered}) as agent:
        assert type(agent) is PACKAGES[agreed].RemoteAgent
        assert (await agent.session_new(cwd="/", mcp_servers=[])).session_id == "s1"
        assert len(there.transports) == connections
    await there.end()


def error(code: int, data: Any = None) -> dict[str, Any]:
    return {"error": {"code": code, "message": "m", "data": data}}


@pytest.mark.parametrize(
    "first",
    [
        {"result": {"protocolVersion": 1, "agentCapabilities": {}}},
        {"result": {"protocolVersion": 2, "agentCapabilities": {}}},  # it repeats what it doesn't know
        {"result": None},
        error(-32022, {"requested": 2, "supported": [1]}),
        error(-32022),
        error(-32602),
        error(-32600),
    ],
    ids=str,
)
async def test_an_older_agent_gets_its_own_initialize_on_a_new_connection(first: dict[str, Any]) -> None:
    received: list[Any] = []

    def answer(params: Any) -> dict[str, Any]:
        received.append(params)
        return first if params["protocolVersion"] == 2 else {"result": {"protocolVersion": 1}}

    there = answering(answer)
    async with acp_bindings.connect(there.open, v1=offer("v1"), v2_draft=offer("v2_draft")) as agent:
        assert isinstance(agent, v1.RemoteAgent)
        assert there.transports[0].closed == 1
    await there.end()
    assert [answer["protocolVersion"] for answer in received] == [2, 1]
    assert "info" in received[0]
    assert "info" not in received[1]


async def test_another_error_of_initialize_is_raised_at_once() -> None:
    there = answering(lambda _: error(-32603))
    with pytest.raises(InternalError):
        async with acp_bindings.connect(there.open, v1=offer("v1"), v2_draft=offer("v2_draft")):
            pass
    assert len(there.transports) == 1
    await there.end()


@pytest.mark.parametrize(
    ("answer", "raised"),
    [
        (error(-32022), UnsupportedProtocolVersion),
        (error(-32600), InvalidRequest),
        ({"result": {"protocolVersion": 7}}, ProtocolVersionMismatch),
    ],
)
async def test_if_no_version_is_accepted_the_answer_to_the_oldest_is_raised(
    answer: dict[str, Any], raised: type[Exception]
) -> None:
    there = answering(lambda _: answer)
    with pytest.raises(raised):
        async with acp_bindings.connect(there.open, v1=offer("v1"), v2_draft=offer("v2_draft")):
            pass
    assert len(there.transports) == 2
    await there.end()


async def test_what_the_block_raises_does_not_begin_another_connection() -> None:
    there = agents("v1", "v2_draft")
    with pytest.raises(InvalidRequest):
        async with acp_bindings.connect(there.open, v1=offer("v1"), v2_draft=offer("v2_draft")):
            raise InvalidRequest("mine")
    assert len(there.transports) == 1
    await there.end()
