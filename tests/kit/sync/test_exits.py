"""Whatever ends a script, no process is left, and the agent could end its work."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.marked_processes import marked, wait_until_left
from tests.support.programs import Program

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="finds processes in /proc")]

BEGIN = """
import os, sys
from acp_kit.sync import spawn_agent

def say(*words):
    print(*words, flush=True)

agent = spawn_agent(sys.executable, "-S", "-m", "tests.support.kit.acting_agent", sys.argv[1])
session = agent.open_session()
"""

# Prints when the agent waits, then is interrupted while it waits for it.
ASK = """
import threading
def tell():
    while session.state.text != "waiting":
        threading.Event().wait(0.01)
    say("waits")
threading.Thread(target=tell).start()
try:
    session.ask("wait")
except KeyboardInterrupt:
    say("interrupted", session.ask("again"))
"""
LOOP = """
with session.prompt("wait") as turn:
    for update in turn:
        say("waits")
"""
BLOCKS = """
with agent, session, session.prompt("wait") as turn:
    next(turn)
    say("waits")
    turn.wait()
"""


# Agents that ignore that their stdin ends, and SIGTERM. The second one answers once.
STARTING = """
from acp_runtime import Options
options = Options(exit_deadline=0.2, terminate_deadline=0.2, stderr=lambda chunk: say(chunk.decode()))
IGNORE = "import os, signal, threading; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
WAIT = "os.write(2, b'waits'); threading.Event().wait()"
spawn_agent(sys.executable, "-c", IGNORE + WAIT, options=options)
"""
IGNORING = """
from acp_runtime import Options
options = Options(exit_deadline=0.2, terminate_deadline=0.2)
IGNORE = "import signal, threading; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
ANSWER = "input(); print('{\\"jsonrpc\\":\\"2.0\\",\\"id\\":0,\\"result\\":{\\"protocolVersion\\":1}}', flush=True); "
other = spawn_agent(sys.executable, "-c", IGNORE + ANSWER + "threading.Event().wait()", options=options)
say("started")
"""
FORKING = """
child = os.fork()
if not child:
    try:
        session.ask("hello")
    except Exception as error:
        say(error)
    sys.exit()
os.waitpid(child, 0)
say(session.ask("hello"))
"""

INTERRUPTED_OFTEN = """
import random, signal
def interrupt(*_):
    raise KeyboardInterrupt
signal.signal(signal.SIGALRM, interrupt)
count = 0
while count < 500:
    try:
        signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-5, 5e-4))
        while True:
            session.state
    except KeyboardInterrupt:
        count += 1
say(session.ask("hello"))
"""


class Script:
    """A script in a process of its own, and the file for what its agent notes."""

    def __init__(self, code: str, notes: Path, marker: str) -> None:
        self.notes = notes
        self.marker = marker
        self.process = Program("-c", BEGIN + code, str(notes), env={marker: "1"})

    def interrupt(self) -> None:
        assert self.process.stdout.readline() == b"waits\n"
        self.process.send_signal(signal.SIGINT)

    def end(self) -> tuple[int | None, str, str]:
        out, err = self.process.communicate(timeout=120)
        assert not wait_until_left(self.marker), err
        return self.process.returncode, out.decode(), err.decode()

    @property
    def noted(self) -> list[str]:
        return self.notes.read_text().split()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[str], Script]]:
    with marked() as marker:
        yield lambda code: Script(code, tmp_path / "notes", marker)


def test_ctrl_c_cancels_the_turn_and_the_session_can_go_on(start: Callable[[str], Script]) -> None:
    script = start(ASK)
    script.interrupt()
    assert script.end() == (0, "interrupted again\n", "")
    assert script.noted == ["cancelled", "ended"]


@pytest.mark.parametrize("code", [LOOP, BLOCKS], ids=["without a block for the agent", "in blocks"])
def test_ctrl_c_that_nobody_catches_cancels_the_turn_and_ends_the_agent(
    code: str, start: Callable[[str], Script]
) -> None:
    script = start(code)
    script.interrupt()
    code_, _, err = script.end()
    assert code_ == -signal.SIGINT
    assert err.rstrip().endswith("KeyboardInterrupt")
    assert script.noted == ["cancelled", "ended"]


def test_a_call_may_be_interrupted_at_any_moment(start: Callable[[str], Script]) -> None:
    assert start(INTERRUPTED_OFTEN).end() == (0, "hello\n", "")


def test_ctrl_c_while_the_agent_starts_ends_it(start: Callable[[str], Script]) -> None:
    script = start(STARTING)
    script.interrupt()
    assert script.end()[0] == -signal.SIGINT


@pytest.mark.parametrize(
    ("code", "expected"),
    [("", 0), ("sys.exit(5)", 5), ("1 / 0", 1), ("turn = session.prompt('wait').__enter__()", 0)],
    ids=["at its end", "by sys.exit", "with an error", "in a turn"],
)
def test_a_script_that_closes_nothing_ends_its_agent(code: str, expected: int, start: Callable[[str], Script]) -> None:
    script = start(f"say(session.ask('hello'))\n{code}")
    returncode, out, err = script.end()
    assert (returncode, out) == (expected, "hello\n"), err
    assert script.noted[-1] == "ended"


def test_an_agent_that_ignores_everything_does_not_keep_a_script_from_ending(start: Callable[[str], Script]) -> None:
    assert start(IGNORING).end()[:2] == (0, "started\n")


def test_a_forked_child_cannot_use_the_agent_and_does_not_end_it(start: Callable[[str], Script]) -> None:
    returncode, out, err = start(FORKING).end()
    assert (returncode, out) == (0, "The agent was closed by this side.\nhello\n"), err
