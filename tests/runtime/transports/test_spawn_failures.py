"""Rule 23: the error of a command that can't start names the command or the missing folder, and nothing is left."""

from __future__ import annotations

import sys
from pathlib import Path
from subprocess import DEVNULL
from typing import Any

import pytest

from acp_bindings.v1 import spawn_agent
from acp_runtime import ConnectionClosed, processes
from tests.runtime.transports.processes import script
from tests.support.programs import run_program
from tests.support.runtime.peer import PlainClient

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == "win32", reason="files and limits of POSIX")]


async def error_of(command: str, *args: str, **keywords: Any) -> OSError:
    try:
        async with spawn_agent(PlainClient, command, *args, **keywords):
            pass
    except OSError as error:
        return error
    pytest.fail("the command started")


@pytest.mark.parametrize("command", ["no-such-agent", "/no/such/agent", "./no-such-agent"])
async def test_rule_23_a_missing_command_is_named(command: str) -> None:
    error = await error_of(command)
    assert isinstance(error, FileNotFoundError)
    assert f"Can't start the agent {command!r}: No such file" in str(error)


async def test_rule_23_a_note_says_what_to_do_about_a_missing_program() -> None:
    note = "It is not in a folder of PATH. Install it, or write its whole path."
    assert (await error_of("no-such-agent")).__notes__ == [note]
    for command in ("/no/such/agent", "./no-such-agent", "", "python no-such.py"):
        assert not hasattr(await error_of(command), "__notes__")


async def test_rule_23_the_error_for_a_relative_command_says_where_it_is_looked_up(tmp_path: Path) -> None:
    error = await error_of("./x", cwd=tmp_path)
    assert isinstance(error, FileNotFoundError)
    assert str(error).endswith(f"A relative command is looked up in cwd, {str(tmp_path)!r}")
    for command in ("x", "/no/such/x"):
        assert "relative" not in str(await error_of(command, cwd=tmp_path))


def test_rule_23_nothing_is_started_without_an_event_loop() -> None:
    # A command that can't start would raise OSError, so the loop was asked for first.
    with pytest.raises(RuntimeError, match="no running event loop"):
        processes.start("no-such-agent", (), None, {}, stdin=DEVNULL, stderr=DEVNULL)


async def test_rule_23_an_empty_command_is_reported() -> None:
    assert "Can't start the agent '': the command is empty" in str(await error_of(""))


async def test_rule_23_a_command_that_is_a_folder_is_reported(tmp_path: Path) -> None:
    error = await error_of(str(tmp_path))
    assert isinstance(error, PermissionError)
    assert f"Can't start the agent {str(tmp_path)!r}: Permission denied" in str(error)


@pytest.mark.parametrize(
    ("content", "mode", "reason"),
    [
        ("#!/bin/sh\n", 0o644, "Permission denied"),
        ("#!/no/such/interpreter\n", 0o755, "the interpreter named in its first line doesn't exist"),
        ("\x01\x02", 0o755, "Exec format error"),
    ],
)
async def test_rule_23_the_reason_why_a_file_cannot_be_run_is_reported(
    content: str, mode: int, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "some-agent"
    script.write_text(content)
    script.chmod(mode)
    assert f"Can't start the agent {str(script)!r}: {reason}" in str(await error_of(str(script)))
    assert f"Can't start the agent './some-agent': {reason}" in str(await error_of("./some-agent", cwd=tmp_path))
    if mode == 0o755:
        monkeypatch.setenv("PATH", str(tmp_path))
        assert f"Can't start the agent 'some-agent': {reason}" in str(await error_of("some-agent"))


async def test_rule_23_a_missing_working_folder_is_named_instead_of_the_command(tmp_path: Path) -> None:
    assert "its working folder '' is not a folder that exists" in str(await error_of(sys.executable, cwd=""))
    (tmp_path / "file").touch()
    assert isinstance(await error_of(sys.executable, cwd=tmp_path / "file"), NotADirectoryError)
    for cwd in (tmp_path / "gone", str(tmp_path / "gone")):
        error = await error_of(sys.executable, cwd=cwd)
        assert isinstance(error, FileNotFoundError)
        assert error.filename == str(tmp_path / "gone")
        assert f"its working folder {str(cwd)!r} is not a folder that exists" in str(error)


@pytest.mark.parametrize(
    ("command", "args", "keywords"),
    [
        ("a\0b", [], {}),
        ("agent", ["a\0b"], {}),
        ("agent", [], {"env": {"NAME": "a\0b"}}),
        ("agent", [], {"env": {"A=B": "c"}}),
        ("agent", [], {"cwd": "/a\0b"}),
    ],
)
async def test_rule_23_the_error_for_impossible_arguments_names_the_command(
    command: str, args: list[str], keywords: dict[str, Any]
) -> None:
    error = await error_of(command, *args, **keywords)
    assert f"Can't start the agent {command!r}" in str(error)
    assert isinstance(error, ValueError)


WRONG_TYPES = {
    "The command must be text, not a list. Pass it and each of its arguments separately.": (["agent", "--acp"], [], {}),
    "inherit_env must be True, False or a list of names, not 5.": ("agent", [], {"inherit_env": 5}),
}


@pytest.mark.parametrize(("message", "call"), WRONG_TYPES.items(), ids=WRONG_TYPES)
async def test_rule_23_a_list_as_command_and_a_wrong_inherit_env_are_refused(
    message: str, call: tuple[Any, list[Any], dict[str, Any]]
) -> None:
    command, args, keywords = call
    with pytest.raises(TypeError) as caught:
        async with spawn_agent(PlainClient, command, *args, **keywords):
            pass
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("command", "args", "keywords"),
    [
        (None, [], {}),
        ("agent", ["a", 5], {}),
        ("agent", [], {"cwd": 5}),
        ("agent", [], {"env": {5: "secret"}}),
        ("agent", [], {"env": {"KEY": ["secret"]}}),
    ],
)
async def test_rule_23_an_argument_of_a_wrong_type_is_reported_without_its_value(
    command: Any, args: list[Any], keywords: dict[str, Any]
) -> None:
    with pytest.raises(TypeError, match=r"^(?!.*secret)"):
        async with spawn_agent(PlainClient, command, *args, **keywords):
            pass


async def test_rule_23_the_error_for_a_whole_command_line_says_how_to_pass_arguments() -> None:
    error = await error_of(f"{sys.executable} --acp")
    assert str(error).endswith(f"Pass the command {sys.executable!r} and each of its arguments separately")
    assert "separately" not in str(await error_of("no-such-agent --acp"))


async def test_rule_23_the_command_its_arguments_and_the_environment_may_be_paths(tmp_path: Path) -> None:
    command: Any = Path(sys.executable)
    code: Any = "import os, pathlib, sys; pathlib.Path(sys.argv[1]).write_text(os.environ['WHERE'])"
    path: Any = tmp_path / "said"
    async with spawn_agent(PlainClient, command, "-c", code, path, env={"WHERE": path}) as agent:
        assert (await agent.wait_closed()).exit_code == 0
    assert path.read_text() == str(path)


FEW_DESCRIPTORS = """
import asyncio, os, resource, sys, threading
from acp_bindings.v1 import spawn_agent
from acp_runtime import ConnectionClosed, Options
from tests.support.runtime.peer import PlainClient
from tests.runtime.transports.processes import script

async def spawned():
    async with spawn_agent(PlainClient, "/bin/true") as agent:
        try:
            await agent.initialize(protocol_version=1)
        except ConnectionClosed as error:
            return error.exit_code

async def main():
    assert await spawned() == 0
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    found, before = [], os.listdir("/proc/self/fd")
    for level in range(3, 40):
        resource.setrlimit(resource.RLIMIT_NOFILE, (level, hard))
        try:
            found.append(await spawned())
        except OSError as error:
            assert "Can't start the agent '/bin/true'" in str(error), error
            found.append("error")
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (100, hard))
        for thread in set(threading.enumerate()) - {threading.main_thread()}:
            thread.join()  # it may still have descriptors to close
        after = os.listdir("/proc/self/fd")
        assert after == before, (level, before, after)
    assert found == sorted(found, key=lambda outcome: outcome != "error"), found
    print(*set(found))

asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="counts descriptors in /proc")
def test_rule_23_running_out_of_descriptors_is_an_error_and_leaves_nothing() -> None:
    _, out, err = run_program("-c", FEW_DESCRIPTORS)
    assert set(out.split()) == {b"error", b"0"}, err
    assert b"Traceback" not in err


async def test_an_agent_that_prints_and_exits_is_quoted_with_its_exit_code_and_stderr() -> None:
    code = "import sys; print('usage: agent', flush=True); print('no such option', file=sys.stderr); sys.exit(2)"
    async with script(code, stderr="capture") as agent:
        with pytest.raises(ConnectionClosed, match="usage: agent") as caught:
            await agent.initialize(protocol_version=1)
    assert (caught.value.exit_code, caught.value.stderr) == (2, "no such option\n")
