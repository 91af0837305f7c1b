"""No process that a terminal started is left running, however the terminal ends."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from signal import SIGKILL
from subprocess import Popen

import pytest

from acp_bindings.v1 import CreateTerminalRequest, ReleaseTerminalRequest, TerminalOutputRequest
from acp_kit.client import Terminals
from acp_kit.local.orphan_guard import OrphanGuard
from tests.support.marked_processes import alive, marked, wait_until_left
from tests.support.programs import run_program
from tests.support.scale import count

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="descendants are found in /proc")

SHELL = ["/bin/sh", "-c"]
FIFTY = {
    "in the group": [*SHELL, "for each in $(seq 50); do sleep 1000 & done; echo ready; wait"],
    "of a command that has exited": [*SHELL, "for each in $(seq 50); do sleep 1000 & done; echo ready"],
    "that ignore SIGTERM": [*SHELL, "trap '' TERM; for each in $(seq 50); do sleep 1000 & done; echo ready; wait"],
}


@pytest.fixture
def marker(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Return the name of a variable that commands inherit."""
    with marked() as name:
        monkeypatch.setenv(name, "1")
        yield name


@asynccontextmanager
async def _fifty(command: list[str]) -> AsyncIterator[tuple[Terminals, str]]:
    """Yield terminals, and the id of the one whose command has started all its descendants."""
    async with Terminals(grace=0.05) as terminals:
        request = CreateTerminalRequest(session_id="s", command=command[0], args=command[1:])
        id = (await terminals.terminal_create(request)).terminal_id
        output = TerminalOutputRequest(session_id="s", terminal_id=id)
        while (await terminals.terminal_output(output)).output != "ready\n":
            await asyncio.sleep(0)
        yield terminals, id


@pytest.mark.parametrize("command", FIFTY.values(), ids=FIFTY.keys())
async def test_fifty_descendants_end_with_the_terminals(marker: str, command: list[str]) -> None:
    async with _fifty(command):
        while len(alive(marker)) < 50:  # for a moment, a process that starts a program has no environment
            await asyncio.sleep(0)
    assert not alive(marker)


async def _cancelled(coroutine: object) -> None:
    """Run a coroutine, and cancel it three times."""
    assert asyncio.iscoroutine(coroutine)
    task = asyncio.create_task(coroutine)
    for _ in range(3):
        await asyncio.sleep(0)
        task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_cancelled_end_ends_all_terminals(marker: str) -> None:
    terminals = Terminals(grace=1000)
    script = "trap '' TERM; echo ready; while :; do sleep 1000; done"
    for _ in range(5):
        request = CreateTerminalRequest(session_id="s", command="/bin/sh", args=["-c", script])
        id = (await terminals.terminal_create(request)).terminal_id
        while not (await terminals.terminal_output(TerminalOutputRequest(session_id="s", terminal_id=id))).output:
            await asyncio.sleep(0)
    await _cancelled(terminals.aclose())
    assert not alive(marker)


async def test_the_end_waits_for_a_terminal_that_is_being_released(marker: str) -> None:
    async with _fifty(FIFTY["that ignore SIGTERM"]) as (terminals, id):
        release = terminals.terminal_release(ReleaseTerminalRequest(session_id="s", terminal_id=id))
        releasing = asyncio.create_task(release)
        await asyncio.sleep(0)
    assert not alive(marker)
    await releasing


@pytest.mark.stress
async def test_a_cancelled_create_leaves_nothing(marker: str) -> None:
    request = CreateTerminalRequest(session_id="s", command="sleep", args=["1000"])
    is_created: set[bool] = set()
    async with Terminals("/") as terminals:
        for round in range(count(20, 2000)):
            creating = asyncio.create_task(terminals.terminal_create(request))
            if round % 20 < 19:
                for _ in range(round % 20 * 3):
                    await asyncio.sleep(0)
                creating.cancel()
            done = await asyncio.gather(creating, return_exceptions=True)
            is_created.add(not isinstance(done[0], BaseException))
        await terminals.release_session("s")
        assert not alive(marker)
    assert is_created == {True, False}


@pytest.mark.parametrize("guard", [OrphanGuard.guard, OrphanGuard.guard_process])
def test_a_guard_kills_when_this_process_ends(guard: Callable[[OrphanGuard, int], None]) -> None:
    orphans = OrphanGuard()
    shell = orphans._shell
    assert shell is not None
    assert shell.stdin is not None
    with Popen(["sleep", "1000"], start_new_session=True) as process:
        guard(orphans, process.pid)
        shell.stdin.close()  # as the system does it at the end of this process
        shell.wait()
        process.terminate()  # does nothing to a process that was killed
    orphans.close()
    assert process.returncode == -SIGKILL


@pytest.mark.parametrize(("end", "code"), [("", 0), ("os.kill(os.getpid(), 9)", -9)], ids=["exit", "kill"])
def test_commands_end_with_a_client_that_does_not_end_them(marker: str, end: str, code: int) -> None:
    program = f"""
import asyncio, os
from acp_bindings.v1 import CreateTerminalRequest
from acp_kit.client import Terminals

async def main():
    request = CreateTerminalRequest(session_id="s", command="sh", args=["-c", "sleep 1000 & sleep 1000"])
    await Terminals().terminal_create(request)
    {end}

asyncio.run(main())
"""
    assert run_program("-c", program)[0] == code
    assert not wait_until_left(marker)
