"""Rule 27: a login names a method that the agent advertises and that doesn't run in a terminal."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from typing import Any

import pytest

from acp_runtime import CapabilityError, LoginMethodError
from tests.support.runtime.any_profile import PROFILES, client_of, opening
from tests.support.runtime.peer import Link, Peer, calling


@asynccontextmanager
async def initialized(link: Link, profile: str, *methods: str, **options: Any) -> AsyncIterator[tuple[Any, Peer]]:
    """Connect a client to a peer that advertises these login methods, which are named like their types."""
    acp: Any = import_module(f"acp_bindings.{profile}")
    side = import_module(f"acp_bindings.{profile}.connecting").CLIENT_SIDE
    async with calling(link, client_of(acp, []), ready=False, side=side, **options) as (remote, peer):
        agent: Any = remote
        call = asyncio.create_task(agent.initialize(**opening(acp)))
        logins = [{"id": name, "methodId": name, "name": name, "type": name} for name in methods]
        result = {"info": {"name": "a", "version": "1"}, "capabilities": {}, "authMethods": logins}
        await peer.answer(result={"protocolVersion": acp.PROTOCOL_VERSION, **result})
        await call
        yield agent, peer


async def log_in(agent: Any, method_id: str) -> None:
    login = getattr(agent, "authenticate", None) or agent.auth_login
    await login(method_id=method_id)


@pytest.mark.parametrize("profile", PROFILES)
async def test_rule_27_a_terminal_method_is_not_passed_to_the_login(link: Link, profile: str) -> None:
    async with initialized(link, profile, "agent", "terminal") as (agent, peer):
        with pytest.raises(LoginMethodError, match=r"'terminal' is for a terminal.*log_in_from_terminal"):
            await log_in(agent, "terminal")
        assert await peer.until_quiet() == []


@pytest.mark.parametrize("profile", PROFILES)
async def test_rule_27_a_method_that_the_agent_does_not_advertise_is_not_passed(link: Link, profile: str) -> None:
    async with initialized(link, profile, "agent", "terminal") as (agent, peer):
        with pytest.raises(LoginMethodError, match=r"no login method 'guess'.* 'agent', 'terminal'\."):
            await log_in(agent, "guess")
        assert await peer.until_quiet() == []
    async with initialized(link, profile) as (agent, peer):
        with pytest.raises(CapabilityError, match="authMethods"):
            await log_in(agent, "agent")
        assert await peer.until_quiet() == []


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(("method", "guards"), [("agent", "raise"), ("terminal", "off")])
async def test_rule_27_a_method_of_the_agent_is_passed_and_any_without_guards(
    link: Link, profile: str, method: str, guards: str
) -> None:
    async with initialized(link, profile, "agent", "terminal", guards=guards) as (agent, peer):
        call = asyncio.create_task(log_in(agent, method))
        request = await peer.receive()
        assert request["params"] == {"methodId": method}
        await peer.send({"id": request["id"], "result": {}})
        await call
