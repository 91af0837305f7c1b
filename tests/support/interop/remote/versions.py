"""Clients of the versions 1 and 2 of the protocol, and agents that serve some of them, over remote transports."""

from __future__ import annotations

import asyncio
import json
from asyncio.subprocess import PIPE
from typing import Any

import acp_bindings
from acp_bindings import v1, v2_draft
from acp_kit.remote import open_transport
from acp_runtime import ProtocolVersionMismatch, RequestError
from tests.support.interop.remote.sdks import OURS, command, url

SERVED = ("1", "2", "1,2")
OFFERS = ("1", "2")
_SECONDS = 20


class One(v1.Client):
    def __init__(self, agent: v1.RemoteAgent) -> None:
        self.texts: list[str] = []
        self.updated = asyncio.Event()

    async def session_update(self, notification: v1.SessionNotification) -> None:
        update = notification.update
        assert isinstance(update, v1.SessionUpdateAgentMessageChunk)
        assert isinstance(update.content, v1.ContentBlockText)
        self.texts.append(update.content.text)
        self.updated.set()

    async def session_request_permission(self, request: v1.RequestPermissionRequest) -> v1.RequestPermissionResponse:
        return v1.RequestPermissionResponse(outcome=v1.RequestPermissionOutcomeSelected(option_id="yes"))


class Two(v2_draft.Client):
    def __init__(self, agent: v2_draft.RemoteAgent) -> None:
        self.texts: list[str] = []
        self.updated = asyncio.Event()

    async def session_update(self, notification: v2_draft.UpdateSessionNotification) -> None:
        update = notification.update
        assert isinstance(update, v2_draft.SessionUpdateAgentMessageChunk)
        assert isinstance(update.content, v2_draft.ContentBlockText)
        self.texts.append(update.content.text)
        self.updated.set()

    async def session_request_permission(
        self, request: v2_draft.RequestPermissionRequest
    ) -> v2_draft.RequestPermissionResponse:
        outcome = v2_draft.RequestPermissionOutcomeSelected(option_id="yes")
        return v2_draft.RequestPermissionResponse(outcome=outcome)


async def _initialize_one(agent: v1.RemoteAgent) -> None:
    await agent.initialize(protocol_version=1)


async def _initialize_two(agent: v2_draft.RemoteAgent) -> None:
    await agent.initialize(protocol_version=2, info=v2_draft.Implementation(name="ours", version="1"))


_CLIENTS: dict[str, Any] = {"1": {"v1": (One, _initialize_one)}, "2": {"v2_draft": (Two, _initialize_two)}}


async def outcomes(client: str, server: str, transport: str) -> dict[str, str]:
    """Return `works` or what fails for each version that a client offers and all that an agent serves.

    If the agent doesn't serve the version, an error is what works.
    """
    pairs = [(offer, served) for offer in OFFERS for served in SERVED]
    urls = [(offer, await url(server, transport, served)) for offer, served in pairs]
    if client == OURS:
        told = [await _ours(_CLIENTS[offer], to) for offer, to in urls]
        newest = [await _ours(_CLIENTS["1"] | _CLIENTS["2"], await url(server, transport, served)) for served in SERVED]
    else:
        told, newest = await _theirs(client, urls), []
    found = {
        f"a client of version {offer} and an agent of {_named(served)}": _judged(each, offer, served)
        for (offer, served), each in zip(pairs, told, strict=True)
    }
    for served, each in zip(SERVED, newest, strict=bool(newest)):
        found[f"a client of both versions and an agent of {_named(served)}"] = _judged(each, served[-1], served)
    return found


def _named(served: str) -> str:
    return "both" if served == "1,2" else f"version {served}"


def _judged(told: Any, version: str, served: str) -> str:
    if version not in served:
        return "works" if "error" in told else "no error"
    if "error" in told:
        return str(told["error"]["message"])
    if told["initialized"]["protocolVersion"] != int(version):
        return "another version"
    return "works" if told["texts"] == ["hello"] else "updates missing"


async def _ours(offers: dict[str, Any], url: str) -> Any:
    try:
        async with asyncio.timeout(_SECONDS), acp_bindings.connect(lambda: open_transport(url), **offers) as agent:
            session = await agent.session_new(cwd="/", **({} if "v2_draft" in agent.__module__ else {"mcp_servers": []}))
            text = (v2_draft if "v2_draft" in agent.__module__ else v1).ContentBlockText(text="hello")
            await agent.session_prompt(session_id=session.session_id, prompt=[text])
            await agent.handler.updated.wait()
            version = 2 if isinstance(agent, v2_draft.RemoteAgent) else 1
            return {"initialized": {"protocolVersion": version}, "texts": agent.handler.texts}
    except (RequestError, ProtocolVersionMismatch) as error:
        return {"error": {"message": str(error)}}


async def _theirs(client: str, urls: list[tuple[str, str]]) -> list[Any]:
    arguments = [argument for pair in urls for argument in pair]
    process = await asyncio.create_subprocess_exec(*command(client, "versions_client"), *arguments, stdout=PIPE)
    try:
        async with asyncio.timeout(_SECONDS * 3):
            out, _ = await process.communicate()
        told: list[Any] = json.loads(out)
        return told
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
