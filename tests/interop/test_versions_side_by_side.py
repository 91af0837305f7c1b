"""Agents with both versions of the protocol, and clients of each, ours and those of the official SDKs."""

from __future__ import annotations

import asyncio
import json
import sys
from asyncio.subprocess import PIPE
from typing import Any

import pytest

import acp_bindings
from acp_bindings import v1, v2_draft
from tests.support.interop.their_client import Command
from tests.support.paths import ROOT
from tests.support.third_party import (
    NEXT_PYTHON_SDK,
    UnavailableError,
    python_in,
    python_sdk,
    skip_without,
    typescript_sdk,
)

pytestmark = pytest.mark.xdist_group("versions")
PEERS = ROOT / "tests/support/interop/peers"


def peer(sdk: str, script: str) -> Command:
    """Return the command that starts a peer. The Python SDK has version 2 since 1.0.0rc3."""
    try:
        if sdk == "python":
            return [str(python_in(python_sdk(NEXT_PYTHON_SDK))), str(PEERS / f"python_versions_{script}.py")]
        return ["node", str(PEERS / f"typescript_versions_{script}.mjs"), str(typescript_sdk())]
    except UnavailableError as reason:
        skip_without(f"The {sdk} SDK can't be installed", reason)


async def told(command: Command) -> Any:
    """Return what a client prints."""
    process = await asyncio.create_subprocess_exec(*command, stdout=PIPE)
    out, _ = await process.communicate()
    return json.loads(out)


class One(v1.Client):
    def __init__(self, agent: v1.RemoteAgent) -> None:
        self.texts: list[Any] = []

    async def session_update(self, notification: v1.SessionNotification) -> None:
        assert isinstance(notification.update, v1.SessionUpdateAgentMessageChunk)
        self.texts.append(notification.update.content)

    async def session_request_permission(self, request: v1.RequestPermissionRequest) -> v1.RequestPermissionResponse:
        return v1.RequestPermissionResponse(outcome=v1.RequestPermissionOutcomeSelected(option_id="yes"))


class Two(v2_draft.Client):
    def __init__(self, agent: v2_draft.RemoteAgent) -> None:
        self.texts: list[Any] = []
        self.updated = asyncio.Event()

    async def session_update(self, notification: v2_draft.UpdateSessionNotification) -> None:
        assert isinstance(notification.update, v2_draft.SessionUpdateAgentMessageChunk)
        self.texts.append(notification.update.content)
        self.updated.set()

    async def session_request_permission(
        self, request: v2_draft.RequestPermissionRequest
    ) -> v2_draft.RequestPermissionResponse:
        outcome = v2_draft.RequestPermissionOutcomeSelected(option_id="yes")
        return v2_draft.RequestPermissionResponse(outcome=outcome)


async def initialize_one(agent: v1.RemoteAgent) -> None:
    await agent.initialize(protocol_version=1)


async def initialize_two(agent: v2_draft.RemoteAgent) -> None:
    await agent.initialize(protocol_version=2, info=v2_draft.Implementation(name="ours", version="1"))


@pytest.mark.parametrize("served", ["1", "2", "1,2"])
async def test_our_client_with_both_versions_and_the_router_of_an_sdk(sdk: str, served: str) -> None:
    async with acp_bindings.spawn_agent(
        *peer(sdk, "agent"), served, v1=(One, initialize_one), v2_draft=(Two, initialize_two)
    ) as agent:
        match agent:
            case v1.RemoteAgent():
                assert served == "1"
                session = await agent.session_new(cwd="/", mcp_servers=[])
                await agent.session_prompt(session_id=session.session_id, prompt=[v1.ContentBlockText(text="hello")])
            case v2_draft.RemoteAgent():
                assert "2" in served
                created = await agent.session_new(cwd="/")
                text = v2_draft.ContentBlockText(text="hello")
                await agent.session_prompt(session_id=created.session_id, prompt=[text])
                await agent.handler.updated.wait()
        assert [each.text for each in agent.handler.texts] == ["hello"]
        assert agent.peer_info is not None
        assert agent.peer_info.name == sdk


@pytest.mark.parametrize("version", ["1", "2"])
@pytest.mark.parametrize("served", ["1", "2", "1,2"])
async def test_a_client_of_an_sdk_and_our_agent_with_some_versions(sdk: str, version: str, served: str) -> None:
    ours = [sys.executable, str(PEERS / "our_versions_agent.py"), served]
    got = await told([*peer(sdk, "client"), version, *ours])
    if version in served:
        assert got["initialized"]["protocolVersion"] == int(version)
        assert got["initialized"]["agentInfo" if version == "1" else "info"]["name"] == "ours"
        assert got["texts"] == ["hello"]
    else:
        # Asked for less, we answer as the schema says; asked for more, with our version, which their models can't read.
        assert got["error"].get("code") == (-32022 if version == "1" else None)
