"""Clients of the versions 1 and 2 of the protocol, and agents that serve some of them, over each transport."""

from __future__ import annotations

import asyncio
from typing import Any

import acp_bindings
from acp_bindings import v1, v2_draft
from acp_kit.remote import open_transport
from acp_runtime import ProtocolVersionMismatch, RequestError
from tests.interop.driver import Command, PeerError
from tests.interop.sdks import OURS, STDIO, agent, connected
from tests.support.runtime.any_profile import opening

SERVED = ("1", "2", "1,2")
_CLIENT_NAMES = {"1": "version 1", "2": "version 2", "1,2": "both versions"}
_AGENT_NAMES = {"1": "version 1", "2": "version 2", "1,2": "both"}
# What a client offers, and what an agent serves, by operation.
OPERATIONS = {
    f"a client of {client}, an agent of {agent}": (offer, served)
    for offer, client in _CLIENT_NAMES.items()
    for served, agent in _AGENT_NAMES.items()
}
_SECONDS = 60


class CollectingClient:
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


class ClientV1(CollectingClient, v1.Client):
    models = v1


class ClientV2(CollectingClient, v2_draft.Client):
    models = v2_draft


_V1: dict[str, Any] = {"v1": (ClientV1, lambda agent: agent.initialize(**opening(v1)))}
_V2: dict[str, Any] = {"v2_draft": (ClientV2, lambda agent: agent.initialize(**opening(v2_draft)))}
_CLIENTS = {"1": _V1, "2": _V2, "1,2": _V1 | _V2}


def tried(client: str, transport: str) -> dict[str, tuple[str, str]]:
    """Return the operations of a client. Only ours offers both versions."""
    result = {name: operation for name, operation in OPERATIONS.items() if client == OURS or operation[0] != "1,2"}
    if transport != STDIO:
        return result
    # A few, because each starts an agent, which takes seconds.
    return {
        name: versions
        for name, versions in result.items()
        if versions[1] == "1,2" and (client != OURS or versions[0] == "1,2")
    }


async def outcomes(client: str, server: str, transport: str) -> dict[str, str]:
    """Return `works` or what fails for each operation. If the agent doesn't serve the version, an error works."""
    result: dict[str, str] = {}
    for operation, (offer, served) in tried(client, transport).items():
        target = await agent(server, transport, served)
        answer = await (_ours(_CLIENTS[offer], target) if client == OURS else _theirs(client, offer, target))
        result[operation] = _verdict(answer, served[-1] if offer == "1,2" else offer, served)
    return result


def _verdict(answer: Any, version: str, served: str) -> str:
    if version not in served:
        return "works" if "error" in answer else "no error"
    if "error" in answer:
        return str(answer["error"]["message"])
    if answer["initialized"]["protocolVersion"] != int(version):
        return "another version"
    return "works" if answer["texts"] == ["hello"] else "updates missing"


async def _ours(offers: dict[str, Any], target: Command | str) -> Any:
    connection: Any
    if isinstance(target, str):
        connection = acp_bindings.connect(lambda: open_transport(target), **offers)
    else:
        connection = acp_bindings.spawn_agent(*target, **offers)
    try:
        async with asyncio.timeout(_SECONDS), connection as agent:
            client = agent.handler
            session = await agent.session_new(cwd="/", mcp_servers=[])
            hello = client.models.ContentBlockText(text="hello")
            await agent.session_prompt(session_id=session.session_id, prompt=[hello])
            await client.updated.wait()
            return {"initialized": {"protocolVersion": client.models.PROTOCOL_VERSION}, "texts": client.texts}
    except (RequestError, ProtocolVersionMismatch) as error:
        return {"error": {"message": str(error)}}


async def _theirs(client: str, offer: str, target: Command | str) -> Any:
    info = {"name": "theirs", "version": "1"}
    params = {"1": {"clientInfo": info, "clientCapabilities": {}}, "2": {"info": info, "capabilities": {}}}
    try:
        async with asyncio.timeout(_SECONDS), connected(client, target, offer) as driver:
            await driver.set_responses({})
            initialized = await driver.call("initialize", {"protocolVersion": int(offer), **params[offer]})
            await driver.call("session/new", {"cwd": "/", "mcpServers": []})
            await driver.prompt("hello")
            return {"initialized": initialized, "texts": await driver.said()}
    except PeerError as error:
        return {"error": error.error}
