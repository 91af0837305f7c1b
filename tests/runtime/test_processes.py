"""Rule 23: agents as subprocesses, ours and hostile ones."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from acp_bindings.v1 import RemoteAgent, spawn_agent
from acp_runtime import ConnectionClosed, Options
from tests.runtime.peer import PlainClient

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="process groups of POSIX")

ROOT = Path(__file__).parents[2]
SHORT = {"exit_deadline": 0.2, "terminate_deadline": 0.2}


def spawned(name: str, **options: Any) -> Any:
    command = (sys.executable, "-m", "tests.runtime.agents", name)
    return spawn_agent(PlainClient, *command, cwd=ROOT, options=Options(**options))


def script(code: str, **options: Any) -> Any:
    return spawn_agent(PlainClient, sys.executable, "-c", code, options=Options(**options))


async def opened(agent: RemoteAgent) -> RemoteAgent:
    await agent.initialize(protocol_version=1)
    await agent.session_new(cwd="/", mcp_servers=[])
    return agent


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and waits for its parent does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


async def test_rule_23_a_turn_with_an_agent_in_a_process() -> None:
    async with spawned("echo") as agent:
        await opened(agent)
        turn = await agent.session_prompt(session_id="s1", prompt=[])
        assert turn.stop_reason == "end_turn"
        pid = await agent.ext_request("_pid")
    assert not is_alive(pid)


async def test_rule_23_an_agent_that_dies_is_reported_with_its_exit_code_and_the_end_of_its_stderr() -> None:
    async with spawned("dying") as agent:
        await opened(agent)
        with pytest.raises(ConnectionClosed) as caught:
            await agent.session_prompt(session_id="s1", prompt=[])
    assert caught.value.exit_code == 3
    assert "last words" in caught.value.stderr
    assert "Exit code 3" in str(caught.value)


async def test_rule_23_an_agent_that_dies_at_once_is_reported_likewise() -> None:
    async with script("import sys; print('usage: agent'); sys.exit('no API key')") as agent:
        with pytest.raises(ConnectionClosed, match="no API key") as caught:
            await agent.initialize(protocol_version=1)
    assert caught.value.exit_code == 1


async def test_rule_23_an_agent_that_is_killed_is_reported_with_the_signal() -> None:
    async with script("import os; os.kill(os.getpid(), 9)") as agent:
        with pytest.raises(ConnectionClosed) as caught:
            await agent.initialize(protocol_version=1)
    assert caught.value.exit_code == -9


@pytest.mark.parametrize("command", ["no-such-agent", "/no/such/agent", str(ROOT)])
async def test_rule_23_a_command_that_cannot_start_is_an_error_that_names_it(command: str) -> None:
    with pytest.raises(OSError, match=f"Can't start the agent '{command}'"):
        async with spawn_agent(PlainClient, command):
            pass


async def test_rule_23_stderr_is_always_drained_and_only_its_tail_kept() -> None:
    async with spawned("noisy", stderr_tail=100) as agent:
        await opened(agent)
        assert (await agent.session_prompt(session_id="s1", prompt=[])).stop_reason == "end_turn"


async def test_rule_23_stderr_can_go_to_a_callable_or_a_file(tmp_path: Path) -> None:
    chunks: list[bytes] = []
    code = "import sys; sys.stderr.write('hello'); sys.exit(1)"
    for sink in (chunks.append, tmp_path / "log"):
        async with script(code, stderr=sink) as agent:
            with pytest.raises(ConnectionClosed, match="hello"):
                await agent.initialize(protocol_version=1)
    assert b"".join(chunks) == b"hello"
    assert (tmp_path / "log").read_bytes() == b"hello"


async def test_rule_23_stderr_is_drained_although_the_callable_for_it_raises(caplog: pytest.LogCaptureFixture) -> None:
    def fail(chunk: bytes) -> None:
        raise ZeroDivisionError

    async with spawned("noisy", stderr=fail) as agent:
        await opened(agent)
        assert (await agent.session_prompt(session_id="s1", prompt=[])).stop_reason == "end_turn"
    assert [record.message for record in caplog.records if "stderr" in record.message] == [
        "Handing on the agent's stderr failed; the rest of it is not handed on."
    ]


async def test_rule_23_a_file_for_stderr_that_cannot_be_opened_is_an_error_and_nothing_starts(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no-such-folder"):
        async with script(f"open({str(tmp_path / 'started')!r}, 'w')", stderr=tmp_path / "no-such-folder" / "log"):
            pass
    assert not (tmp_path / "started").exists()


async def test_rule_23_only_a_safe_part_of_the_environment_is_inherited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "hunter2")
    command = (sys.executable, "-m", "tests.runtime.agents", "echo")
    async with spawn_agent(PlainClient, *command, cwd=ROOT, env={"GIVEN": "1"}) as agent:
        found = await agent.ext_request("_env")
    assert "SOME_API_KEY" not in found
    assert (found["GIVEN"], found["PATH"]) == ("1", os.environ["PATH"])


async def test_rule_23_an_agent_that_ignores_eof_and_sigterm_is_killed() -> None:
    async with spawned("deaf", **SHORT):
        pass


async def test_rule_23_grandchildren_end_too_even_if_they_hold_the_pipes() -> None:
    async with spawned("parent", **SHORT) as agent:
        await opened(agent)
        pid = await agent.ext_request("_child")
        assert is_alive(pid)
    async with asyncio.timeout(60):
        while is_alive(pid):
            await asyncio.sleep(0)


async def test_rule_23_it_works_the_same_when_the_body_raises_or_is_cancelled() -> None:
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
            await asyncio.sleep(0)


async def test_rule_23_the_agent_has_a_process_group_of_its_own() -> None:
    async with spawned("echo") as agent:
        pid = await agent.ext_request("_pid")
        assert os.getpgid(pid) == pid != os.getpgid(0)


async def test_a_message_of_20_megabytes_comes_back_from_a_process() -> None:
    async with spawned("echo") as agent:
        assert len(await agent.ext_request("_large", 20_000_000)) == 20_000_000
