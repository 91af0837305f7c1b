"""Rule 23: agents as subprocesses, well-behaved and hostile ones."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from acp_bindings.v1 import RequestPermissionRequest, RequestPermissionResponse, SessionNotification, spawn_agent
from acp_runtime import ConnectionClosed, InternalError, Options, RequestError
from tests.runtime.transports.processes import command_of, is_alive, opened, script, spawned
from tests.support.event_loop import let_others_run
from tests.support.marked_processes import alive, marked, no_new_children
from tests.support.runtime.peer import PlainClient

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="process groups of POSIX"),
]

SHORT = {"exit_deadline": 0.1, "terminate_deadline": 0.1}


def echo(**keywords: Any) -> Any:
    return spawn_agent(PlainClient, *command_of("echo"), **keywords)


async def test_rule_23_an_agent_process_answers_a_prompt_and_ends_with_the_block() -> None:
    with no_new_children():
        async with spawned("echo") as agent:
            await opened(agent)
            turn = await agent.session_prompt(session_id="s1", prompt=[])
            assert turn.stop_reason == "end_turn"


async def test_rule_23_an_agents_death_is_reported_with_exit_code_and_stderr() -> None:
    async with spawned("dying") as agent:
        await opened(agent)
        with pytest.raises(ConnectionClosed) as caught:
            await agent.session_prompt(session_id="s1", prompt=[])
    assert caught.value.exit_code == 3
    assert "last words" in caught.value.stderr
    assert "Exit code: 3" in str(caught.value)


async def test_rule_23_an_unknown_exit_code_is_not_0(caplog: pytest.LogCaptureFixture) -> None:
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # then the system forgets how processes have exited
    try:
        async with spawned("dying") as agent:
            await opened(agent)
            with pytest.raises(ConnectionClosed) as caught:
                await agent.session_prompt(session_id="s1", prompt=[])
            assert caught.value.exit_code is None
            assert agent.process.returncode == await agent.process.wait() == 255
    finally:
        signal.signal(signal.SIGCHLD, before)
    assert "SIGCHLD is ignored" in caplog.text


@pytest.mark.skipif(not hasattr(os, "waitid"), reason="needs waitid")
async def test_rule_23_the_exit_code_is_known_although_others_wait_for_the_agent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waitid = os.waitid

    def waitid_before_another_waiter(kind: int, pid: int, options: int) -> Any:
        status = waitid(kind, pid, options)
        os.waitpid(pid, 0)
        return status

    monkeypatch.setattr(os, "waitid", waitid_before_another_waiter)
    async with spawned("dying") as agent:
        await opened(agent)
        with pytest.raises(ConnectionClosed) as caught:
            await agent.session_prompt(session_id="s1", prompt=[])
        assert caught.value.exit_code == await agent.process.wait() == 3


WRITES_THEN_READS = """
import json, os, sys
line = json.dumps({"jsonrpc": "2.0", "method": "_note", "params": "x" * 100_000}).encode() + b"\\n"
for _ in range(20):
    sys.stdout.buffer.write(line)
sys.stdout.flush()
with open(sys.argv[1], "w") as file:
    file.write(str(len(sys.stdin.buffer.read())))
"""


async def test_rule_22_an_agent_that_writes_before_it_reads_receives_all_at_the_end(tmp_path: Path) -> None:
    command = (sys.executable, "-S", "-c", WRITES_THEN_READS, str(tmp_path / "size"))
    async with spawn_agent(PlainClient, *command, options=Options(flush_deadline=10)) as agent:
        await agent.ext_notification("_note", "x" * 100_000)  # more than fits into the pipe
    assert int((tmp_path / "size").read_text()) > 100_000


ASKS_AND_LEAVES = """
import json, os, sys
id = json.loads(sys.stdin.readline())["id"]
chunk = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "x"}}
update = {"method": "session/update", "params": {"sessionId": "s1", "update": chunk}}
ask = {"id": "q", "method": "session/request_permission"}
ask["params"] = {"sessionId": "s1", "toolCall": {"toolCallId": "t"}, "options": []}
for message in (*[update] * 20, ask, {"id": id, "result": {"stopReason": "end_turn"}}):
    os.write(1, json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\\n")
"""


async def test_rule_22_nothing_is_lost_when_an_agent_leaves_without_reading_an_answer() -> None:
    class Slow(PlainClient):
        async def session_update(self, notification: SessionNotification, /) -> None:
            await asyncio.sleep(0.04)
            handled.append(notification)

        async def session_request_permission(self, request: RequestPermissionRequest, /) -> RequestPermissionResponse:
            await asyncio.sleep(0.1)  # until the agent has left
            return await super().session_request_permission(request)

    handled: list[SessionNotification] = []
    options = Options(guards="off")
    async with spawn_agent(Slow, sys.executable, "-S", "-c", ASKS_AND_LEAVES, options=options) as agent:
        turn = await agent.session_prompt(session_id="s1", prompt=[])
    assert turn.stop_reason == "end_turn"
    assert len(handled) == 20


async def test_rule_23_the_exit_code_of_a_killed_agent_is_the_negative_signal() -> None:
    async with script("import os; os.kill(os.getpid(), 9)") as agent:
        with pytest.raises(ConnectionClosed) as caught:
            await agent.initialize(protocol_version=1)
    assert caught.value.exit_code == -9


async def test_rule_23_the_environment_is_inherited_and_extended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "from outside")
    monkeypatch.setenv("OVERRIDDEN", "from outside")
    async with echo(env={"GIVEN": "1", "OVERRIDDEN": "2"}) as agent:
        environment = await agent.ext_request("_env")
    assert (environment["SOME_API_KEY"], environment["OVERRIDDEN"], environment["GIVEN"]) == ("from outside", "2", "1")
    assert {**os.environ, **environment} == environment


@pytest.mark.parametrize("by_option", [True, False])
@pytest.mark.parametrize(
    ("inherit", "names"),
    [(False, {"PATH", "LC_SOMETHING"}), (["SOME_API_KEY", "UNSET"], {"SOME_API_KEY"}), ([], set())],
)
async def test_rule_23_a_selection_of_the_environment_can_be_inherited(
    inherit: Any, names: set[str], by_option: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "hunter2")
    monkeypatch.setenv("LC_SOMETHING", "C")
    keywords = {"options": Options(inherit_env=inherit)} if by_option else {"inherit_env": inherit}
    async with echo(env={"GIVEN": "1"}, **keywords) as agent:
        environment = await agent.ext_request("_env")
    assert environment["GIVEN"] == "1"
    assert {"PATH", "LC_SOMETHING", "SOME_API_KEY"} & set(environment) == names


async def test_rule_23_the_keyword_inherit_env_overrides_the_option(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "hunter2")
    async with echo(inherit_env=True, options=Options(inherit_env=False)) as agent:
        assert "SOME_API_KEY" in await agent.ext_request("_env")


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


_listdir = os.listdir


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


async def test_rule_22_calls_to_an_agent_that_has_closed_its_stdin_fail() -> None:
    async with spawned("closing", **SHORT) as agent:
        call = asyncio.create_task(agent.ext_request("_close", 0))
        with pytest.raises(ConnectionClosed, match="no longer reads"):
            while True:
                await agent.ext_notification("_note")
        with pytest.raises(ConnectionClosed, match="Writing to the peer failed"):
            await call


async def test_rule_22_an_agent_that_only_closes_its_stdout_is_reported_and_ended() -> None:
    async with spawned("closing", **SHORT) as agent:
        pid = await agent.ext_request("_pid")
        with pytest.raises(ConnectionClosed, match="closed the connection") as caught:
            await agent.ext_request("_close", 1)
    assert (caught.value.exit_code, caught.value.stderr) == (None, "1 is closed\n")
    assert not is_alive(pid)


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


async def test_rule_23_an_agents_death_is_noticed_while_its_child_keeps_pipes_open() -> None:
    async with script("import os, signal; os._exit(3) if os.fork() else signal.pause()", **SHORT) as agent:
        with pytest.raises(ConnectionClosed) as caught:
            await agent.initialize(protocol_version=1)
    assert caught.value.exit_code == 3


async def test_rule_18_a_blocked_send_fails_when_the_block_is_left() -> None:
    async with script("import signal; signal.pause()", **SHORT, flush_deadline=0.1) as agent:
        sending = asyncio.ensure_future(agent.ext_notification("_large", "x" * 5_000_000))
        await asyncio.sleep(0)
    with pytest.raises(ConnectionClosed):
        await sending


async def test_the_proxy_of_a_spawned_agent_has_its_process() -> None:
    async with spawned("echo") as remote:
        await remote.initialize(protocol_version=1)
        assert remote.process is not None
        assert remote.process.command == sys.executable
        assert remote.process.pid == await remote.ext_request("_pid")
        assert remote.process.returncode is None
    assert remote.process.returncode == await remote.process.wait() == 0
    assert (await remote.wait_closed()).reason.startswith("The connection was closed")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signals")
async def test_rule_23_an_agent_that_hangs_can_be_killed() -> None:
    async with spawned("echo") as remote:
        assert remote.process is not None
        waiting = asyncio.create_task(remote.process.wait())
        await let_others_run(3)
        remote.process.kill()
        assert await waiting == -signal.SIGKILL
        assert (await remote.wait_closed()).exit_code == -signal.SIGKILL


async def test_rule_23_an_agent_can_end_by_itself_when_its_stdin_is_closed() -> None:
    code = "import os, sys; os.write(2, b'%d bytes' % len(sys.stdin.read()))"
    async with script(code, stderr="capture") as remote:
        await remote.ext_notification("_note", "x" * 1_000_000)
        await remote.process.close_stdin()
        assert (await remote.wait_closed()).exit_code == 0
        assert int(remote.process.stderr_tail.removesuffix(" bytes")) > 1_000_000


async def test_an_internal_error_of_a_spawned_agent_mentions_its_stderr() -> None:
    async with spawned("echo", stderr="capture") as remote:
        await remote.initialize(protocol_version=1)
        with pytest.raises(InternalError, match=r"\(-32603\)\. The agent's stderr may say why\."):
            await remote.ext_request("_large", "not a number")


def test_rule_23_an_agent_starts_in_an_event_loop_that_can_start_no_subprocesses() -> None:
    class WithoutSubprocesses(asyncio.SelectorEventLoop):
        """As on Windows, where Jupyter and Tornado need this loop."""

        async def subprocess_exec(self, *args: Any, **options: Any) -> Any:
            raise NotImplementedError

    async def pid() -> Any:
        async with spawned("echo") as remote:
            await remote.initialize(protocol_version=1)
            return await remote.ext_request("_pid")

    with asyncio.Runner(loop_factory=WithoutSubprocesses) as runner:
        assert runner.run(pid()) > 0
