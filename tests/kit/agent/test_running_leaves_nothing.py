"""No process that a turn runs is left, however the turn or the agent ends."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from acp_kit.agent import Turn
from acp_kit.testing import ScriptedAgent, connect
from acp_runtime import ConnectionClosed, RemoteError
from tests.support.kit.turns import Viewer, client_with_terminals, client_without_terminals, conversation
from tests.support.marked_processes import alive, marked, wait_until_left

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="descendants are found in /proc")

Clients: TypeAlias = Callable[[Path], AbstractAsyncContextManager[Any]]

either = pytest.mark.parametrize(
    "clients", [client_without_terminals, client_with_terminals], ids=["as a process", "in a terminal"]
)


@pytest.fixture
def marker(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Return the name of a variable that commands inherit, and an agent in a process of its own."""
    with marked() as name:
        monkeypatch.setenv(name, "1")
        yield name


def line(folder: Path, *, stubborn: bool = False) -> str:
    """A line of shell with three processes that makes a file when they run."""
    trap = "trap '' TERM; " if stubborn else ""
    return f"{trap}sleep 1000 & sleep 1000 & touch {started(folder)}; wait"


def started(folder: Path) -> str:
    return str(folder / "started")


async def begun(folder: Path) -> None:
    """Wait until the line of shell has made its file."""
    while not Path(started(folder)).exists():
        await asyncio.sleep(0)


@pytest.mark.parametrize("fails", [False, True])
@either
async def test_a_command_of_another_task_ends_with_the_turn(
    marker: str, clients: Clients, fails: bool, tmp_path: Path
) -> None:
    running: list[asyncio.Task[Any]] = []

    async def leave(turn: Turn) -> None:
        running.append(asyncio.create_task(turn.run(line(tmp_path), shell=True)))
        await begun(tmp_path)
        if fails:
            raise ValueError("no")

    async with clients(tmp_path) as client, connect(ScriptedAgent(leave), client, cwd=tmp_path) as session:
        with pytest.raises(RemoteError) if fails else nullcontext():
            await session.ask("go")
        assert not alive(marker)


async def test_an_agent_that_loses_its_client_ends_its_command(marker: str, tmp_path: Path) -> None:
    async def run(turn: Turn) -> None:
        await turn.run(line(tmp_path), shell=True)

    with pytest.raises(ConnectionClosed):
        async with connect(ScriptedAgent(run), Viewer, cwd=tmp_path) as session, session.prompt("go"):
            await begun(tmp_path)
            raise ConnectionClosed("the client leaves")
    assert not wait_until_left(marker)


HOLDING = """
import asyncio, os, sys
from acp_bindings import v1
from tests.support.kit.turns import ActingAgent

async def hold(turn):
    running = asyncio.create_task(turn.run(sys.argv[1], shell=True))
    while not os.path.exists(sys.argv[2]):
        await asyncio.sleep(0)
    await turn.say("running")
    await running

asyncio.run(v1.serve_stdio(lambda client: ActingAgent(client, [hold], [])))
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGABRT])
async def test_an_agent_that_is_killed_leaves_no_command(marker: str, number: int, tmp_path: Path) -> None:
    agent = [sys.executable, "-c", HOLDING, line(tmp_path, stubborn=True), started(tmp_path)]
    async with connect(agent, Viewer, cwd=tmp_path, deadline=60) as session, session.prompt("go") as turn:
        await anext(turn)
        assert session.agent.process is not None
        os.kill(session.agent.process.pid, number)
        with suppress(ConnectionClosed):  # after SIGTERM, the agent still answers
            await turn.wait()
        assert not wait_until_left(marker)


@pytest.mark.parametrize("steps", [0, 1, 2, 3, 5, 8, 13, 21, 34])
async def test_a_command_that_is_cancelled_at_any_moment_leaves_nothing(
    marker: str, steps: int, tmp_path: Path
) -> None:
    async def act(turn: Turn) -> None:
        running = asyncio.create_task(turn.run("sleep 1000 & sleep 1000", shell=True))
        for _ in range(steps):
            await asyncio.sleep(0)
        for _ in range(3):
            running.cancel()
            await asyncio.sleep(0)
        await asyncio.wait({running})
        assert running.cancelled()
        assert not alive(marker)

    async with conversation(cwd=tmp_path) as talk:
        await talk.prompt(act)
