"""In every profile: a turn with an update and a cancellation between two processes."""

from __future__ import annotations

import asyncio
import sys
from importlib import import_module
from typing import Any

import pytest

PROFILES = ["v1", "v1_unstable", "v2_draft", "v2_draft_unstable"]


def client_of(acp: Any, updates: asyncio.Queue[Any]) -> Any:
    class Watching(acp.Client):  # type: ignore[misc]
        def __init__(self, agent: Any) -> None:
            self.agent = agent

        async def session_update(self, notification: Any, /) -> None:
            updates.put_nowait(notification.update)

        async def session_request_permission(self, request: Any, /) -> Any:
            raise AssertionError

    return Watching


@pytest.mark.parametrize("profile", PROFILES)
async def test_a_turn_between_two_processes_is_streamed_and_cancelled(profile: str) -> None:
    acp: Any = import_module(f"acp_bindings.{profile}")
    first = acp.PROTOCOL_VERSION == 1
    updates: asyncio.Queue[Any] = asyncio.Queue()
    command = (sys.executable, "-m", "tests.support.stress.any_profile", profile)
    opening = {} if first else {"info": acp.Implementation(name="c", version="1")}
    async with acp.spawn_agent(client_of(acp, updates), *command) as agent:
        opened = await agent.initialize(protocol_version=acp.PROTOCOL_VERSION, **opening)
        assert opened.protocol_version == acp.PROTOCOL_VERSION
        session = await agent.session_new(cwd="/", mcp_servers=[])
        prompt = [acp.ContentBlockText(text="hi")]
        turn = asyncio.create_task(agent.session_prompt(session_id=session.session_id, prompt=prompt))
        update = await updates.get()
        assert isinstance(update, acp.SessionUpdateAgentMessageChunk)
        assert update.content == acp.ContentBlockText(text="working")
        if not first:
            await turn
        await agent.session_cancel(session_id=session.session_id)
        reason = (await turn if first else await updates.get()).stop_reason
    assert reason == "cancelled"
    assert updates.empty()
