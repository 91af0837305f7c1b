"""The attributes of a proxy for its peer and connection, and rule 31: a proxy belongs to one event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from acp_bindings.v1 import Client, InitializeResponse, RemoteAgent, methods
from acp_runtime import CapabilityError
from tests.support.runtime.peer import Link, PlainClient, calling

CAPABILITIES: list[dict[str, Any]] = [
    {},
    {"loadSession": True},
    {"loadSession": False, "sessionCapabilities": {"list": {}, "resume": None}},
    {"auth": {"logout": {}}, "sessionCapabilities": {"close": {}, "delete": {}, "resume": {}, "list": {}}},
]


async def test_rule_31_a_call_from_another_event_loop_raises_and_sends_nothing(link: Link) -> None:
    async with calling(link) as (agent, peer):

        async def call() -> None:
            await agent.ext_request("_ping")

        async def notify() -> None:
            await agent.session_cancel(session_id="s")

        async def prompt() -> None:
            await agent.session_prompt(session_id="s", prompt=[])

        async def notify_extension() -> None:
            await agent.ext_notification("_note")

        async def wait() -> None:
            await agent.wait_closed()

        for attempt in (call, notify, prompt, notify_extension, wait):
            with pytest.raises(RuntimeError, match="run_coroutine_threadsafe"):
                await asyncio.to_thread(asyncio.run, attempt())
        assert await peer.until_quiet() == []


async def test_rule_31_another_thread_can_call_through_the_event_loop(link: Link) -> None:
    async with calling(link) as (agent, peer):
        loop = agent.event_loop
        assert loop is asyncio.get_running_loop()

        def call() -> Any:
            return asyncio.run_coroutine_threadsafe(agent.ext_request("_ping"), loop).result(60)

        answer = asyncio.create_task(asyncio.to_thread(call))
        await peer.answer(result="pong")
        assert await answer == "pong"


@pytest.mark.parametrize("capabilities", CAPABILITIES, ids=str)
async def test_supports_agrees_with_the_guards(link: Link, capabilities: dict[str, Any]) -> None:
    calls: dict[str, dict[str, Any]] = {
        "session/load": {"session_id": "s", "cwd": "/", "mcp_servers": []},
        "session/resume": {"session_id": "s", "cwd": "/", "mcp_servers": []},
        "session/list": {},
        "session/close": {"session_id": "s"},
        "session/delete": {"session_id": "s"},
        "session/set_mode": {"session_id": "s", "mode_id": "m"},
        "session/new": {"cwd": "/", "mcp_servers": []},
        "logout": {},
    }
    async with calling(link, capabilities=capabilities) as (agent, peer):
        for wire, keywords in calls.items():
            call = asyncio.create_task(getattr(agent, methods.AGENT_REQUESTS[wire].name)(**keywords))
            if agent.supports(wire):
                assert (await peer.receive())["method"] == wire
                call.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await call
                assert (await peer.receive())["method"] == "$/cancel_request"
            else:
                with pytest.raises(CapabilityError):
                    await call
        assert await peer.until_quiet() == []


async def test_supports_is_false_before_initialize_and_refuses_unknown_methods(link: Link) -> None:
    async with calling(link, ready=False) as (agent, _):
        assert agent.supports("initialize")
        assert not agent.supports("session/cancel")
        assert not agent.supports("session/new")
        with pytest.raises(ValueError, match=r"no method 'session/teleport'.* session/list, session/load,"):
            agent.supports("session/teleport")


async def test_the_handler_of_a_proxy_is_available_once_the_factory_has_made_it(link: Link) -> None:
    class Curious(PlainClient):
        def __init__(self, agent: RemoteAgent) -> None:
            super().__init__(agent)
            with pytest.raises(RuntimeError, match="has not returned the handler"):
                _ = agent.handler

    async with calling(link, Curious) as (agent, _):
        handler: Client = agent.handler
        assert isinstance(handler, Curious)


async def test_a_call_may_begin_while_the_factory_makes_the_handler(link: Link) -> None:
    calls: list[Coroutine[Any, Any, InitializeResponse]] = []

    def factory(agent: RemoteAgent) -> PlainClient:
        # As an eager task does (Python 3.12): it runs to its first wait where it is created.
        call = agent.initialize(protocol_version=1)
        call.send(None)
        calls.append(call)
        return PlainClient(agent)

    async with calling(link, factory, ready=False) as (_, peer):
        assert (await peer.receive())["method"] == "initialize"
        calls[0].close()
