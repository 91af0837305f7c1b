"""Rules 22 and 23: an agent in a process of its own: its messages, its death and its exit code."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from acp_bindings.v1 import RequestPermissionRequest, RequestPermissionResponse, SessionNotification, spawn_agent
from acp_runtime import ConnectionClosed, InternalError, Options
from tests.runtime.transports.processes import is_alive, opened, script, spawned
from tests.support.event_loop import let_others_run
from tests.support.marked_processes import no_new_children
from tests.support.runtime.peer import PlainClient

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="process groups of POSIX"),
]

SHORT = {"exit_deadline": 0.1, "terminate_deadline": 0.1}


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


async def test_rule_23_an_agents_death_is_noticed_while_its_child_keeps_pipes_open() -> None:
    async with script("import os, signal; os._exit(3) if os.fork() else signal.pause()", **SHORT) as agent:
        with pytest.raises(ConnectionClosed) as caught:
            await agent.initialize(protocol_version=1)
    assert caught.value.exit_code == 3


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
