"""Rule 23: how a spawned agent ends, with its children, when its block is left."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from acp_runtime import ConnectionClosed, Options, RequestError
from tests.runtime.transports.processes import is_alive, opened, script, spawned
from tests.support.marked_processes import alive, marked

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="process groups of POSIX"),
]

SHORT = {"exit_deadline": 0.1, "terminate_deadline": 0.1}
_listdir = os.listdir


async def test_rule_23_the_output_of_an_agent_after_eof_is_read_until_it_exits(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    code = f"""
import os, pathlib, sys
sys.stdin.buffer.read()
for _ in range(100):
    os.write(1, b"x" * 99_999 + b"\\n")
pathlib.Path({str(tmp_path / "said")!r}).write_text("all")
"""
    async with script(code, exit_deadline=60.0):
        pass
    assert (tmp_path / "said").read_text() == "all"
    assert "SIGTERM" not in caplog.text


async def test_rule_23_an_agent_may_take_some_seconds_to_exit(caplog: pytest.LogCaptureFixture) -> None:
    """A real agent needs 2.05 s."""
    assert Options().exit_deadline >= 5.0
    async with script("import sys, threading; sys.stdin.read(); threading.Event().wait(0.5)"):
        pass
    assert not caplog.records


async def test_rule_23_an_agent_that_ignores_eof_and_sigterm_is_killed(caplog: pytest.LogCaptureFixture) -> None:
    async with spawned("deaf", **SHORT) as agent:
        with pytest.raises(RequestError):
            await agent.ext_request("_ready")
    assert agent.process.returncode == -signal.SIGKILL
    pid = f"pid {agent.process.pid}"
    levels = [(record.levelname, "SIGTERM" in record.message) for record in caplog.records if pid in record.message]
    assert levels == [("WARNING", True), ("WARNING", True)]
    assert "killing it" in caplog.text


async def test_rule_23_an_agent_that_ends_on_sigterm_is_not_killed(caplog: pytest.LogCaptureFixture) -> None:
    async with script("import signal; signal.pause()", exit_deadline=0.1) as agent:
        pass
    assert agent.process.returncode == -signal.SIGTERM
    assert "SIGTERM" in caplog.text
    assert "killing it" not in caplog.text


@pytest.mark.parametrize("times", [1, 2, 3])
async def test_rule_23_each_cancellation_during_closing_shortens_the_deadlines(times: int) -> None:
    async def body() -> None:
        async with spawned("deaf", exit_deadline=3600.0, terminate_deadline=3600.0) as agent:
            with pytest.raises(RequestError):
                await agent.ext_request("_ready")
            left.set()

    left = asyncio.Event()
    with marked() as marker, pytest.MonkeyPatch.context() as patch:
        patch.setenv(marker, "1")
        task = asyncio.create_task(body())
        await left.wait()
        patch.delenv(marker)
        for _ in range(times):
            await asyncio.sleep(0.01)
            task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not alive(marker)


async def test_rule_23_repeated_cancellation_by_one_scope_counts_as_one() -> None:
    async def body() -> None:
        async with spawned("echo", exit_deadline=3600.0) as agent:
            pids.append(await agent.ext_request("_pid"))
            await asyncio.Event().wait()

    pids: list[int] = []
    task = asyncio.create_task(body())
    while not pids:
        await asyncio.sleep(0.01)
    while not task.done():
        task.cancel("Cancelled by cancel scope 7f")
        await asyncio.sleep(0)
    assert task.cancelled()
    assert not is_alive(pids[0])


async def test_rule_23_grandchildren_end_too_even_if_they_keep_the_pipes_open(caplog: pytest.LogCaptureFixture) -> None:
    async with spawned("parent", **SHORT) as agent:
        await opened(agent)
        pid = await agent.ext_request("_child")
        assert is_alive(pid)
    async with asyncio.timeout(60):
        while is_alive(pid):
            await asyncio.sleep(0.01)
    assert "left behind is still running; sending SIGTERM" in caplog.text


def _without_proc(path: str) -> list[str]:
    raise FileNotFoundError(path)


def _with_nothing_mounted(path: str) -> list[str]:
    return []


def _with_a_process_that_has_just_ended(path: str) -> list[str]:
    ended = subprocess.Popen([sys.executable, "-S", "-c", ""])
    ended.wait()
    return [str(ended.pid), *_listdir(path)]


@pytest.mark.skipif(sys.platform != "linux", reason="/proc")
@pytest.mark.parametrize("listed", [_without_proc, _with_nothing_mounted, _with_a_process_that_has_just_ended])
async def test_rule_23_grandchildren_end_whatever_proc_says(
    listed: Callable[[str], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def listdir(path: str) -> list[str]:
        return listed(path) if path == "/proc" else _listdir(path)

    async with spawned("parent", **SHORT) as agent:
        await opened(agent)
        pid = await agent.ext_request("_child")
        monkeypatch.setattr(os, "listdir", listdir)
    async with asyncio.timeout(60):
        while is_alive(pid):
            await asyncio.sleep(0.01)


async def test_rule_23_the_agent_and_grandchildren_end_when_the_body_raises_or_is_cancelled() -> None:
    pids: list[int] = []

    async def body(fail: bool) -> None:
        async with spawned("parent", **SHORT) as agent:
            pids.append(await agent.ext_request("_child"))
            pids.append(await agent.ext_request("_pid"))
            if fail:
                raise ZeroDivisionError
            entered.set()
            await asyncio.Event().wait()

    entered = asyncio.Event()
    with pytest.raises(ZeroDivisionError):
        await body(True)
    task = asyncio.create_task(body(False))
    await entered.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with asyncio.timeout(60):
        while any(map(is_alive, pids)):
            await asyncio.sleep(0.01)


async def test_rule_23_the_agent_has_its_own_process_group() -> None:
    async with spawned("echo") as agent:
        pid = await agent.ext_request("_pid")
        assert os.getpgid(pid) == pid != os.getpgid(0)


async def test_rule_18_a_blocked_send_fails_when_the_block_is_left() -> None:
    async with script("import signal; signal.pause()", **SHORT, flush_deadline=0.1) as agent:
        sending = asyncio.ensure_future(agent.ext_notification("_large", "x" * 5_000_000))
        await asyncio.sleep(0)
    with pytest.raises(ConnectionClosed):
        await sending
