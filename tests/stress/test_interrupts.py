"""Rule 23: Ctrl-C at any time, any number of times, leaves no process behind, even if it ignores EOF and SIGTERM."""

from __future__ import annotations

import random
import signal
import subprocess
import sys

import pytest

from tests.support.marked_processes import marked, wait_until_left
from tests.support.programs import Program
from tests.support.scale import SEED, count

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="finds processes in /proc")

PHASES = ("calling", "waiting", "leaving")


@pytest.mark.stress
@pytest.mark.parametrize("number", range(count(3, 300)))
def test_rule_23_pressing_ctrl_c_up_to_four_times_leaves_no_process(number: int) -> None:
    chance = random.Random(SEED + number)
    with marked() as marker:
        phase = PHASES[number % len(PHASES)]
        client = Program("-m", "tests.stress.interrupted_client", phase, env={marker: "1"})
        # A second KeyboardInterrupt while the process is being started may leave it.
        has_entered = chance.choice((False, True, True))
        for _ in range(1 + has_entered):
            client.stdout.readline()
        for _ in range(chance.choice((1, 2, 3, 4)) if has_entered else 1):
            interrupt_after(client, chance.choice((0.005, 0.05, 0.5)) * (0.5 + chance.random()))
        _, err = client.communicate(timeout=60)
        assert not wait_until_left(marker), err.decode()


def interrupt_after(client: Program, seconds: float) -> None:
    """Send SIGINT after some time, unless the client ends before."""
    try:
        client.wait(seconds)
    except subprocess.TimeoutExpired:
        client.send_signal(signal.SIGINT)


LEAVING = """
import asyncio, gc, os, sys
from tests.stress.interrupted_client import main

loop = asyncio.new_event_loop()
task = loop.create_task(main("stopping"))
loop.run_forever()
"""
COLLECTED = "del task, loop; gc.collect(); os.write(1, b'over\\n'); sys.stdin.read()"


@pytest.mark.parametrize(
    "rest",
    [
        "",
        "loop.close()",
        f"loop.close(); {COLLECTED}",
        f"loop.call_soon(task.get_coro().close); loop.call_soon(loop.stop); loop.run_forever(); {COLLECTED}",
    ],
    ids=["stopped", "closed", "closed and collected", "its coroutine closed in the loop"],
)
def test_rule_23_abandoning_the_event_loop_leaves_no_process(rest: str) -> None:
    with marked() as marker:
        client = Program("-c", LEAVING + rest, env={marker: "1"})
        assert client.stdout.readline() == b"entered\n"
        if COLLECTED in rest:
            assert client.stdout.readline() == b"over\n"
            assert wait_until_left(marker, {client.pid}) == {client.pid}
        client.communicate(timeout=60)
        assert not wait_until_left(marker)
