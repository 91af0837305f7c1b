"""Terminals run commands for the agent, and answer with the protocol's errors."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from acp_bindings import v1
from acp_kit.client import Terminals
from acp_kit.local.running_command import RunningCommand
from acp_runtime import InternalError, InvalidParams, ResourceNotFound


def _request(script: str, **more: Any) -> v1.CreateTerminalRequest:
    return v1.CreateTerminalRequest(session_id="s", command="/bin/sh", args=["-c", script], **more)


async def _create(terminals: Terminals, script: str, **more: Any) -> str:
    return (await terminals.terminal_create(_request(script, **more))).terminal_id


async def _output(terminals: Terminals, id: str) -> v1.TerminalOutputResponse:
    return await terminals.terminal_output(v1.TerminalOutputRequest(session_id="s", terminal_id=id))


async def _wait(terminals: Terminals, id: str) -> v1.WaitForTerminalExitResponse:
    return await terminals.terminal_wait_for_exit(v1.WaitForTerminalExitRequest(session_id="s", terminal_id=id))


async def _kill(terminals: Terminals, id: str) -> None:
    request = v1.KillTerminalRequest(session_id="s", terminal_id=id)
    assert await terminals.terminal_kill(request) == v1.KillTerminalResponse()


async def _release(terminals: Terminals, id: str) -> None:
    request = v1.ReleaseTerminalRequest(session_id="s", terminal_id=id)
    assert await terminals.terminal_release(request) == v1.ReleaseTerminalResponse()


async def _run(terminals: Terminals, script: str, **more: Any) -> str:
    """Run a command to its end, and return its output."""
    id = await _create(terminals, script, **more)
    await _wait(terminals, id)
    return (await _output(terminals, id)).output


async def _until_output(terminals: Terminals, id: str, text: str) -> None:
    while (await _output(terminals, id)).output != text:
        await asyncio.sleep(0)


async def test_a_command_runs_from_create_to_release() -> None:
    async with Terminals() as terminals:
        id = await _create(terminals, "echo out; echo err >&2; echo more; exit 3")
        assert await _wait(terminals, id) == v1.WaitForTerminalExitResponse(exit_code=3)
        assert await _output(terminals, id) == v1.TerminalOutputResponse(
            output="out\nerr\nmore\n", truncated=False, exit_status=v1.TerminalExitStatus(exit_code=3)
        )
        await _release(terminals, id)


async def test_commands_run_where_no_shell_can_guard_them(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise FileNotFoundError

    monkeypatch.setattr("acp_kit.local.orphan_guard.Popen", fail)
    async with Terminals() as terminals:
        assert await _run(terminals, "echo hi") == "hi\n"


async def test_output_is_there_before_the_command_exits(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "go")
    async with Terminals(tmp_path) as terminals:
        id = await _create(terminals, "printf 'a\\303'; read go < go; printf '\\251'")
        await _until_output(terminals, id, "a")
        assert await _output(terminals, id) == v1.TerminalOutputResponse(output="a", truncated=False)
        await asyncio.to_thread((tmp_path / "go").write_text, "go\n")
        await _wait(terminals, id)
        assert (await _output(terminals, id)).output == "aé"


@pytest.mark.parametrize(
    ("script", "code", "signal"),
    [
        ("exit 0", 0, None),
        ("exit 255", 255, None),
        ("kill -TERM $$", None, "SIGTERM"),
        ("kill -KILL $$", None, "SIGKILL"),
        ("kill -40 $$", None, "SIG40"),
    ],
)
async def test_the_exit_status_is_a_code_or_the_name_of_a_signal(
    script: str, code: int | None, signal: str | None
) -> None:
    async with Terminals() as terminals:
        id = await _create(terminals, script)
        status = await _wait(terminals, id)
        assert (status.exit_code, status.signal) == (code, signal)
        exit_status = (await _output(terminals, id)).exit_status
        assert exit_status is not None
        assert (exit_status.exit_code, exit_status.signal) == (code, signal)


async def test_the_exit_status_is_empty_if_it_is_unknown() -> None:
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # then the system forgets how processes have exited
    try:
        async with Terminals() as terminals:
            status = await _wait(terminals, await _create(terminals, "exit 5"))
    finally:
        signal.signal(signal.SIGCHLD, before)
    assert (status.exit_code, status.signal) == (None, None)


async def test_stdin_is_empty() -> None:
    async with Terminals() as terminals:
        assert await _run(terminals, "cat; echo end") == "end\n"


@pytest.mark.parametrize(
    ("limit", "output", "truncated"), [(None, "aéé", False), (5, "aéé", False), (3, "é", True), (0, "", True)]
)
async def test_output_beyond_the_limit_is_dropped_from_its_start(
    limit: int | None, output: str, truncated: bool
) -> None:
    async with Terminals() as terminals:
        id = await _create(terminals, "printf 'aé'; printf 'é'", output_byte_limit=limit)
        await _wait(terminals, id)
        response = await _output(terminals, id)
        assert (response.output, response.truncated) == (output, truncated)


async def test_the_agent_can_not_have_more_output_kept_than_the_client_allows() -> None:
    async with Terminals(max_output_bytes=2) as terminals:
        assert await _run(terminals, "printf 1234", output_byte_limit=100) == "34"
        assert await _run(terminals, "printf 1234") == "34"
        assert await _run(terminals, "printf 1234", output_byte_limit=1) == "4"
        id = await _create(terminals, "printf 1234")
        await _wait(terminals, id)
    shown = v1.TerminalOutputResponse(output="34", truncated=True, exit_status=v1.TerminalExitStatus(exit_code=0))
    assert terminals.output(id) == shown


async def test_one_mib_of_output_is_kept_by_default() -> None:
    async with Terminals() as terminals:
        assert len(await _run(terminals, f"head -c {1024 * 1024 + 1} /dev/zero | tr '\\0' x")) == 1024 * 1024


async def test_variables_are_added_to_the_inherited_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEPT", "1")
    monkeypatch.setenv("CHANGED", "2")
    env = [v1.EnvVariable(name="CHANGED", value="3"), v1.EnvVariable(name="ADDED", value="é=;")]
    for inherit, expected in ((True, {"KEPT", "PATH"}), (False, {"PATH"}), (["KEPT"], {"KEPT"})):
        async with Terminals(inherit_env=inherit) as terminals:
            lines = (await _run(terminals, "exec /usr/bin/env", env=env)).splitlines()
        assert {"CHANGED=3", "ADDED=é=;"} <= set(lines)
        assert {line.partition("=")[0] for line in lines} & {"KEPT", "PATH"} == expected
    with pytest.raises(TypeError, match="inherit_env"):
        Terminals(inherit_env="PATH")


async def test_a_command_starts_in_the_first_root_or_below_a_root(tmp_path: Path) -> None:
    for name in ("a", "b", "b/inner", "c"):
        (tmp_path / name).mkdir()
    (tmp_path / "b" / "link").symlink_to(tmp_path / "c")
    (tmp_path / "b" / "file").touch()
    async with Terminals(tmp_path / "a", tmp_path / "b") as terminals:
        assert await _run(terminals, "pwd") == f"{tmp_path}/a\n"
        assert await _run(terminals, "pwd", cwd=f"{tmp_path}/a/../b/inner") == f"{tmp_path}/b/inner\n"
        for cwd in (f"{tmp_path}/c", f"{tmp_path}/b/link", "/", "inner", f"{tmp_path}/b/file", "/\0"):
            with pytest.raises(InvalidParams) as refused:
                await _create(terminals, "pwd", cwd=cwd)
            assert refused.value.data["path"] == cwd
        with pytest.raises(ResourceNotFound):
            await _create(terminals, "pwd", cwd=f"{tmp_path}/b/missing")


async def test_without_roots_a_command_starts_anywhere(tmp_path: Path) -> None:
    async with Terminals() as terminals:
        assert await _run(terminals, "pwd") == f"{os.getcwd()}\n"
        assert await _run(terminals, "pwd", cwd=str(tmp_path)) == f"{tmp_path}\n"
        with pytest.raises(InvalidParams):
            await _create(terminals, "pwd", cwd="relative")


async def test_a_command_that_can_not_be_started_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "data").touch()
    failures: list[tuple[dict[str, Any], type[Exception], str]] = [
        ({"command": "no-such-command"}, ResourceNotFound, "Can't start 'no-such-command': No such file or directory."),
        ({"command": "ls -l", "args": ["a"]}, ResourceNotFound, "Pass the command 'ls' and each of its arguments sep"),
        ({"command": ""}, InvalidParams, "Can't start '': the command is empty."),
        ({"command": str(tmp_path / "data")}, InternalError, "Permission denied."),
        ({"command": "ls", "args": ["\0"]}, InvalidParams, "embedded null byte"),
        ({"command": "ls", "args": ["\ud83d"]}, InvalidParams, "surrogates not allowed"),
        ({"command": "ls", "env": [v1.EnvVariable(name="A=B", value="")]}, InvalidParams, "environment variable name"),
    ]
    async with Terminals(tmp_path) as terminals:
        for params, error, message in failures:
            with pytest.raises(error) as refused:
                await terminals.terminal_create(v1.CreateTerminalRequest(session_id="s", **params))
            assert message in str(refused.value)


async def test_commands_may_run_in_a_shell(tmp_path: Path) -> None:
    (tmp_path / "a b").touch()
    requests = {
        ("ls -d a* | tr a c", ()): "c b\n",
        ("ls", ("-d", "a b")): "a b\n",
        ("echo", ("$HOME", "it's")): "$HOME it's\n",
        ("exit", ("3",)): "",
    }
    async with Terminals(tmp_path, shell=True) as terminals:
        for (command, args), output in requests.items():
            request = v1.CreateTerminalRequest(session_id="s", command=command, args=list(args))
            id = (await terminals.terminal_create(request)).terminal_id
            status = await _wait(terminals, id)
            assert status.exit_code == (3 if command == "exit" else 0)
            assert (await _output(terminals, id)).output == output


async def test_a_whole_line_as_the_command_runs_in_a_shell_and_is_logged_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("a program", "program"):
        (tmp_path / name).write_text("#!/bin/sh\necho the program\n")
        (tmp_path / name).chmod(0o755)
    lines = {
        "echo one two && echo three | tr a-z A-Z": "one two\nTHREE\n",
        f"echo {'long ' * 1000}| wc -w": "1000\n",
        "cd /;pwd": "/\n",
        "cat <<END\nhi\nEND": "hi\n",
        "~/program": "the program\n",
        str(tmp_path / "a program"): "the program\n",
    }
    with caplog.at_level("INFO"):
        async with Terminals(tmp_path) as terminals:
            for line, output in lines.items():
                id = (
                    await terminals.terminal_create(v1.CreateTerminalRequest(session_id="s", command=line))
                ).terminal_id
                assert (await _wait(terminals, id)).exit_code == 0
                assert (await _output(terminals, id)).output == output
    first = "echo one two && echo three | tr a-z A-Z"
    assert caplog.messages == [f"The agent sends command lines, which run in a shell: {first}"]


async def test_a_killed_command_keeps_its_terminal() -> None:
    async with Terminals() as terminals:
        id = await _create(terminals, "echo before; exec sleep 1000")
        await _until_output(terminals, id, "before\n")
        for _ in range(2):
            await _kill(terminals, id)
            assert await _output(terminals, id) == v1.TerminalOutputResponse(
                output="before\n", truncated=False, exit_status=v1.TerminalExitStatus(signal="SIGTERM")
            )
        assert await _wait(terminals, id) == v1.WaitForTerminalExitResponse(signal="SIGTERM")


async def test_a_command_may_end_itself_within_the_grace() -> None:
    script = "trap 'sleep 0.1; exit 3' TERM; echo ready; while :; do sleep 0.01; done"
    async with Terminals(grace=1000) as terminals:
        id = await _create(terminals, script)
        await _until_output(terminals, id, "ready\n")
        await _kill(terminals, id)
        assert await _wait(terminals, id) == v1.WaitForTerminalExitResponse(exit_code=3)


async def test_a_command_that_ignores_sigterm_is_killed() -> None:
    async with Terminals(grace=0.01) as terminals:
        id = await _create(terminals, "trap '' TERM; echo ready; while :; do sleep 1000; done")
        await _until_output(terminals, id, "ready\n")
        await _kill(terminals, id)
        assert await _wait(terminals, id) == v1.WaitForTerminalExitResponse(signal="SIGKILL")


async def test_a_released_terminal_is_gone_and_calls_that_wait_for_it_return() -> None:
    async with Terminals() as terminals:
        id = await _create(terminals, "exec sleep 1000")
        waiting = asyncio.create_task(_wait(terminals, id))
        await asyncio.sleep(0)
        await _release(terminals, id)
        assert await waiting == v1.WaitForTerminalExitResponse(signal="SIGTERM")
        for act in (_output, _wait, _kill, _release):
            with pytest.raises(ResourceNotFound) as missing:
                await act(terminals, id)
            assert missing.value.data == {"terminalId": id}


async def test_calls_that_wait_return_when_a_command_that_still_runs_is_closed() -> None:
    command = RunningCommand("sleep", ("1000",), None, {}, 0)
    waiting = asyncio.create_task(command.wait())
    await asyncio.sleep(0)
    command.close()
    for _ in range(10):
        await asyncio.sleep(0)
    returned = waiting.done()
    await RunningCommand.end([command], 0)
    await waiting
    assert returned


async def test_the_client_can_show_the_output_before_and_after_the_release() -> None:
    async with Terminals() as terminals:
        id = await _create(terminals, "trap 'echo ended; exit 3' TERM; echo before; while :; do :; done")
        while terminals.output(id) != v1.TerminalOutputResponse(output="before\n", truncated=False):
            await asyncio.sleep(0)
        releasing = asyncio.create_task(_release(terminals, id))
        await asyncio.sleep(0)
        ending = terminals.output(id)
        assert ending is not None
        assert ending.output.startswith("before\n")
        await releasing
        last = v1.TerminalOutputResponse(
            output="before\nended\n", truncated=False, exit_status=v1.TerminalExitStatus(exit_code=3)
        )
        assert terminals.output(id) == last
        assert terminals.output("no such terminal") is None
    assert terminals.output(id) == last


async def test_the_output_of_a_session_is_forgotten_with_it() -> None:
    async with Terminals() as terminals:
        ids = [await _create(terminals, "echo") for _ in range(2)]
        await _release(terminals, ids[0])
        await terminals.release_session("other")
        assert None not in map(terminals.output, ids)
        await terminals.release_session("s")
        assert [*map(terminals.output, ids)] == [None, None]


async def test_a_session_is_released_with_the_terminals_that_the_agent_is_just_releasing() -> None:
    async with Terminals() as terminals:
        id = await _create(terminals, "exec sleep 1000")
        releasing = asyncio.create_task(_release(terminals, id))
        await asyncio.sleep(0)
        await terminals.release_session("s")
        assert terminals.output(id) is None
        await releasing
        assert terminals.output(id) is None


async def test_a_session_can_not_reach_terminals_of_another_one() -> None:
    async with Terminals() as terminals:
        id = await _create(terminals, "exec sleep 1000")
        other: Any = {"session_id": "other", "terminal_id": id}
        for act in (
            terminals.terminal_output(v1.TerminalOutputRequest(**other)),
            terminals.terminal_wait_for_exit(v1.WaitForTerminalExitRequest(**other)),
            terminals.terminal_kill(v1.KillTerminalRequest(**other)),
            terminals.terminal_release(v1.ReleaseTerminalRequest(**other)),
        ):
            with pytest.raises(InvalidParams, match="belongs to another session"):
                await act
        await terminals.release_session("other")
        assert (await _output(terminals, id)).exit_status is None
        await terminals.release_session("s")
        with pytest.raises(ResourceNotFound):
            await _output(terminals, id)


async def test_a_descendant_in_the_background_still_writes_output(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "go")
    async with Terminals(tmp_path) as terminals:
        id = await _create(terminals, "{ read go < go; echo later; } & echo now")
        assert await _wait(terminals, id) == v1.WaitForTerminalExitResponse(exit_code=0)
        assert (await _output(terminals, id)).output == "now\n"
        await asyncio.to_thread((tmp_path / "go").write_text, "go\n")
        await _until_output(terminals, id, "now\nlater\n")


async def test_no_terminals_are_created_after_the_end() -> None:
    terminals = Terminals()
    await terminals.aclose()
    await terminals.aclose()
    with pytest.raises(InternalError, match="closing"):
        await _create(terminals, "exit")
