"""Rule 23: a subprocess, its pipes and the copy of its stderr at the end of its block, without a connection."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Generator
from concurrent.futures import Future
from typing import Any

import pytest

from acp_runtime import ConnectionClosed, Options
from acp_runtime.commands import environment
from acp_runtime.processes import ProcessGroup
from acp_runtime.transports import process as process_module
from acp_runtime.transports.process import Process
from acp_runtime.transports.stderr import StderrCopy
from tests.runtime.transports.processes import is_alive
from tests.support.runtime.received import Received

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")


class SlowForwarding:
    """Takes the first chunk of stderr at once, and the rest when the process was asked whether all is copied."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.chunks: list[bytes] = []
        self.began = threading.Event()
        self.asked = threading.Event()
        is_copied = StderrCopy.is_copied

        def note(copy: StderrCopy) -> bool:
            copied = is_copied(copy)
            self.asked.set()
            return copied

        monkeypatch.setattr(StderrCopy, "is_copied", note)

    def __call__(self, data: bytes) -> None:
        self.began.set()
        self.asked.wait(60)
        self.chunks.append(data)


@pytest.fixture
def forwarding(monkeypatch: pytest.MonkeyPatch) -> Generator[SlowForwarding]:
    forwarding = SlowForwarding(monkeypatch)
    yield forwarding
    forwarding.asked.set()


def run(code: str, **options: Any) -> Process:
    return Process(sys.executable, ("-S", "-c", code), None, environment(None, True), Options(**options))


WRITES_TWICE = "import os; os.write(2, b'first, '); os.read(0, 1); os.write(2, b'last words')"


async def test_rule_23_the_reason_why_it_closed_has_all_of_stderr(forwarding: SlowForwarding) -> None:
    async with run(WRITES_TWICE, stderr=forwarding) as process:
        await asyncio.to_thread(forwarding.began.wait, 60)
        process.stdin.write(b"x")
        await process.wait()
        reason = await process.why_closed(ConnectionClosed("it has gone"))
    assert (reason.exit_code, reason.stderr) == (0, "first, last words")


async def test_rule_23_stderr_is_forwarded_to_its_end_before_the_block_ends(
    forwarding: SlowForwarding, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process_module, "_FLUSH_DEADLINE", 100 * process_module._FLUSH_DEADLINE)
    async with run(WRITES_TWICE, stderr=forwarding) as process:
        await asyncio.to_thread(forwarding.began.wait, 60)
    assert process.returncode == 0
    assert b"".join(forwarding.chunks) == b"first, last words"


async def test_rule_23_a_process_without_a_connection_can_write_until_it_exits(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with run("import os, sys; sys.stdin.read(); os.write(1, b'x' * 1_000_000)", exit_deadline=30.0) as process:
        pass
    assert process.returncode == 0
    assert caplog.records == []


async def test_rule_23_leaving_the_event_loop_kills_the_process_and_closes_its_pipes() -> None:
    received, process = Received(), run("import signal; signal.pause()", exit_deadline=3600.0)
    with pytest.raises(GeneratorExit):
        async with process:
            process.stdout.start(received)
            raise GeneratorExit
    assert process.returncode == -signal.SIGKILL
    assert received.ends == [None]
    with pytest.raises(BrokenPipeError):
        process.stdin.write(b"x")


async def test_rule_23_after_the_event_loop_a_process_is_killed_and_its_pipes_are_closed() -> None:
    class OfClosedLoop(Received):
        def ended(self, error: OSError | None, /) -> None:
            super().ended(error)
            raise RuntimeError("Event loop is closed")

    received, process = OfClosedLoop(), run("import signal; signal.pause()", exit_deadline=3600.0)
    with pytest.raises(GeneratorExit):
        async with process:
            process.stdout.start(received)
            raise GeneratorExit
    assert process.returncode == -signal.SIGKILL
    assert received.ends == [None]
    with pytest.raises(BrokenPipeError):
        process.stdin.write(b"x")


# Starts a child that outlives it, and writes its id to stderr.
FORKS = """
import os, signal
if os.fork() == 0:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.write(2, b"%d" % os.getpid())
    signal.pause()
else:
    os.read(0, 1)
"""


async def test_rule_23_a_descendant_that_ends_soon_after_the_process_is_left_alone(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def is_gone(group: ProcessGroup) -> bool:
        """Let the child end when its end is waited for, and not yet when the group itself looks for it."""
        gone = ask(group)
        asked.append(gone)
        if asked.count(False) == 2:
            os.kill(child.result(), signal.SIGKILL)
        return gone

    ask, asked, child = ProcessGroup.is_gone, list[bool](), Future[int]()
    monkeypatch.setattr(ProcessGroup, "is_gone", is_gone)
    monkeypatch.setattr(process_module, "_GRACE", 100 * process_module._GRACE)
    async with run(FORKS, stderr=lambda data: child.set_result(int(data))):
        await asyncio.wrap_future(child)
    assert asked.count(False) >= 2
    assert caplog.records == []


async def test_rule_23_killed_descendants_are_gone_when_the_block_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    def kill_later(group: int, number: int) -> None:
        if number == signal.SIGKILL:
            asyncio.get_running_loop().call_later(0.02, kill, group, number)
        else:
            kill(group, number)

    kill = os.killpg
    monkeypatch.setattr(os, "killpg", kill_later)
    child = Future[int]()
    async with run(FORKS, stderr=lambda data: child.set_result(int(data)), terminate_deadline=0.5):
        pid = await asyncio.wrap_future(child)
    assert not is_alive(pid)
