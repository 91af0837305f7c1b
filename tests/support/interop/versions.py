"""Clients of the versions 1 and 2 of the protocol, and agents that serve some of them, over each transport."""

from __future__ import annotations

import asyncio
from typing import Any

import acp_bindings
from acp_bindings import v1, v2_draft
from acp_kit.remote import open_transport
from acp_runtime import ProtocolVersionMismatch, RequestError
from tests.support.interop.driver import Command, PeerError
from tests.support.interop.sdks import OURS, STDIO, agent, connected

SERVED = ("1", "2", "1,2")
_NAMES = {"1": "version 1", "2": "version 2", "1,2": "both"}
# What a client offers, and what an agent serves, by operation.
OFFERED = {
    f"a client of version {offer}, an agent of {_NAMES[served]}": (offer, served)
    for offer in ("1", "2")
    for served in SERVED
}
NEWEST = [f"a client of both versions, an agent of {_NAMES[served]}" for served in SERVED]
_SECONDS = 60


class Texts:
    """Collects what the agent says, and permits everything. The models of both versions have these names."""

    models: Any

    def __init__(self, agent: Any) -> None:
        self.texts: list[str] = []
        self.updated = asyncio.Event()

    async def session_update(self, notification: Any) -> None:
        assert isinstance(notification.update, self.models.SessionUpdateAgentMessageChunk)
        self.texts.append(notification.update.content.text)
        self.updated.set()

    async def session_request_permission(self, request: Any) -> Any:
        outcome = self.models.RequestPermissionOutcomeSelected(option_id="yes")
        return self.models.RequestPermissionResponse(outcome=outcome)


class One(Texts, v1.Client):
    models = v1


class Two(Texts, v2_draft.Client):
    models = v2_draft


async def _initialize_one(agent: v1.RemoteAgent) -> None:
    await agent.initialize(protocol_version=1)


async def _initialize_two(agent: v2_draft.RemoteAgent) -> None:
    await agent.initialize(protocol_version=2, info=v2_draft.Implementation(name="ours", version="1"))


_CLIENTS: dict[str, Any] = {"1": {"v1": (One, _initialize_one)}, "2": {"v2_draft": (Two, _initialize_two)}}


async def outcomes(client: str, server: str, transport: str) -> dict[str, str]:
    """Return `works` or what fails for each version that a client offers and all that an agent serves.

    If the agent doesn't serve the version, an error is what works.
    """
    tried = {} if (client, transport) == (OURS, STDIO) else OFFERED  # it takes seconds to start agents
    agents = {served: await agent(server, transport, served) for served in SERVED}
    offers = [(offer, agents[served]) for offer, served in tried.values()]
    if client == OURS:
        told = [await _ours(_CLIENTS[offer], to) for offer, to in offers]
        newest = [await _ours(_CLIENTS["1"] | _CLIENTS["2"], agents[served]) for served in SERVED]
    else:
        told, newest = [await _theirs(client, offer, to) for offer, to in offers], []
    found = {
        operation: _judged(each, offer, served)
        for operation, each, (offer, served) in zip(tried, told, tried.values(), strict=True)
    }
    for operation, each, served in zip(NEWEST, newest, SERVED, strict=False):
        found[operation] = _judged(each, served[-1], served)
    return found


def _judged(told: Any, version: str, served: str) -> str:
    if version not in served:
        return "works" if "error" in told else "no error"
    if "error" in told:
        return str(told["error"]["message"])
    if told["initialized"]["protocolVersion"] != int(version):
        return "another version"
    return "works" if told["texts"] == ["hello"] else "updates missing"


async def _ours(offers: dict[str, Any], target: Command | str) -> Any:
    if isinstance(target, str):
        connection = acp_bindings.connect(lambda: open_transport(target), **offers)
    else:
        connection = acp_bindings.spawn_agent(*target, **offers)
    try:
        async with asyncio.timeout(_SECONDS), connection as agent:
            match agent:
                case v1.RemoteAgent():
                    version, one = 1, await agent.session_new(cwd="/", mcp_servers=[])
                    hello = v1.ContentBlockText(text="hello")
                    await agent.session_prompt(session_id=one.session_id, prompt=[hello])
                case v2_draft.RemoteAgent():
                    version, two = 2, await agent.session_new(cwd="/")
                    text = v2_draft.ContentBlockText(text="hello")
                    await agent.session_prompt(session_id=two.session_id, prompt=[text])
            client = agent.handler
            assert isinstance(client, One | Two)
            await client.updated.wait()
            return {"initialized": {"protocolVersion": version}, "texts": client.texts}
    except (RequestError, ProtocolVersionMismatch) as error:
        return {"error": {"message": str(error)}}


async def _theirs(client: str, offer: str, target: Command | str) -> Any:
    info = {"name": "theirs", "version": "1"}
    about = {"1": {"clientInfo": info, "clientCapabilities": {}}, "2": {"info": info, "capabilities": {}}}
    try:
        async with asyncio.timeout(_SECONDS), connected(client, target, offer) as driver:
            await driver.set_responses({})
            initialized = await driver.call("initialize", {"protocolVersion": int(offer), **about[offer]})
            await driver.call("session/new", {"cwd": "/", "mcpServers": []})
            await driver.prompt("hello")
            return {"initialized": initialized, "texts": await driver.said()}
    except PeerError as error:
        return {"error": error.error}
