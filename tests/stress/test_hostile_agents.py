"""Hostile agents in real processes: our client carries on or reports a clear error, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from acp_bindings.v1 import ContentBlockText, RemoteAgent, spawn_agent
from acp_runtime import ConnectionClosed, Options
from tests.support.marked_processes import alive, marked, no_new_children
from tests.support.paths import ROOT
from tests.support.runtime.peer import PlainClient
from tests.support.runtime.processes import opened
from tests.support.scale import count

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and process groups of POSIX")

SCRIPT = ROOT / "tests/support/stress/hostile_agent.py"
SHORT = Options(exit_deadline=0.1, terminate_deadline=0.1, flush_deadline=0.1, eof_grace=0.1)


@asynccontextmanager
async def hostile(behaviour: str, *, leaves_process: bool = False) -> AsyncIterator[RemoteAgent]:
    """Run a hostile agent with a session. Afterwards, assert that no process is left, unless one is expected."""
    command = (sys.executable, "-S", str(SCRIPT), behaviour)
    with marked() as marker:
        try:
            async with spawn_agent(PlainClient, *command, env={marker: "1"}, options=SHORT) as agent:
                yield await opened(agent)
        finally:
            if leaves_process:
                assert alive(marker)
            else:
                await until_none_left(marker)


async def until_none_left(marker: str) -> None:
    async with asyncio.timeout(30):
        while alive(marker):
            await asyncio.sleep(0.005)


async def prompted(agent: RemoteAgent) -> str:
    turn = await agent.session_prompt(session_id="s1", prompt=[ContentBlockText(text="hi")])
    return turn.stop_reason


async def error_of_prompt(agent: RemoteAgent) -> ConnectionClosed:
    """Send a prompt, and return the error that it fails with."""
    with pytest.raises(ConnectionClosed) as caught:
        await prompted(agent)
    return caught.value


async def test_a_child_in_its_own_session_does_not_delay_the_end() -> None:
    behaviour = "leaves_a_child_in_another_session"
    async with asyncio.timeout(60), hostile(behaviour, leaves_process=True) as agent:
        assert await prompted(agent) == "end_turn"


async def test_calls_to_an_agent_that_has_closed_its_stdin_fail() -> None:
    async with hostile("closes_stdin") as agent:
        assert "Writing to the peer failed" in (await error_of_prompt(agent)).reason


async def test_an_agent_that_closes_its_stdout_but_keeps_running_is_reported_and_ended() -> None:
    async with hostile("closes_stdout") as agent:
        error = await error_of_prompt(agent)
    assert error.exit_code is None
    assert "closed the connection" in error.reason
    assert error.stderr == "stdout is closed\n"


@pytest.mark.stress
async def test_many_agents_at_the_same_time_leave_nothing() -> None:
    async def run(behaviour: str) -> None:
        async with asyncio.timeout(100), hostile(behaviour) as agent:
            if behaviour == "dies":
                assert (await error_of_prompt(agent)).exit_code == 7
            else:
                assert await prompted(agent) == "end_turn"

    behaviours = ("polite", "dies", "leaves_children", "immortal", "stopped") * count(1, 3)
    with no_new_children():
        await asyncio.gather(*map(run, behaviours))
