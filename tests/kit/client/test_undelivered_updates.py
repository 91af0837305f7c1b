"""A client that doesn't pass updates on to its sessions gets a warning in the log, once for each agent."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

import pytest

from acp_bindings import v1
from acp_kit.agent import Turn
from acp_kit.client import UpdateHandlers, deliver_update
from acp_kit.testing import ScriptedAgent, connect
from tests.support.kit.turns import Act, KeepingClient, Viewer


async def speak(turn: Turn) -> None:
    await turn.say("hello")


async def keep_quiet(turn: Turn) -> None:
    pass


async def warnings_of(
    client: Callable[[v1.RemoteAgent], v1.Client], caplog: pytest.LogCaptureFixture, *sessions: tuple[Act, ...]
) -> list[str]:
    """Open sessions with a new agent each, run their turns, and return the warnings."""
    caplog.clear()
    for acts in sessions:
        async with connect(ScriptedAgent(*acts), client) as session:
            for _ in acts:
                await session.ask("go")
    return [record.message for record in caplog.records if record.levelno >= logging.WARNING]


async def test_a_client_that_delivers_no_updates_is_warned_once(caplog: pytest.LogCaptureFixture) -> None:
    class OverridingClient(UpdateHandlers, KeepingClient):
        async def session_update(self, notification: v1.SessionNotification) -> None:
            self.updates.append(notification.update)

    for client in (KeepingClient, OverridingClient):
        (warning,) = await warnings_of(client, caplog, (speak, speak))
        assert f"{client.__name__}.session_update doesn't call `deliver_update`" in warning


async def test_a_client_that_delivers_updates_is_not_warned_of_a_later_turn_without_any(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class DeliveringClient(KeepingClient):
        async def session_update(self, notification: v1.SessionNotification) -> None:
            deliver_update(self.agent, notification)

    assert await warnings_of(DeliveringClient, caplog, (speak, keep_quiet)) == []


async def test_an_agent_that_sends_nothing_is_no_fault_of_update_handlers(caplog: pytest.LogCaptureFixture) -> None:
    assert await warnings_of(Viewer, caplog, (keep_quiet,)) == []


async def test_a_turn_that_is_left_before_any_update_warns_of_nothing(caplog: pytest.LogCaptureFixture) -> None:
    async def hang(turn: Turn) -> None:
        await asyncio.Event().wait()

    async with connect(ScriptedAgent(hang), KeepingClient) as session, session.prompt("go"):
        pass
    assert caplog.records == []
