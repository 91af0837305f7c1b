"""A process ends with its descendants, on every system (rule 23). On Windows, arguments for cmd.exe are checked."""

from __future__ import annotations

import subprocess
import sys
import venv
from io import FileIO
from pathlib import Path
from subprocess import DEVNULL, PIPE
from typing import cast

import pytest

from acp_runtime.commands import InvalidCommand, check_arguments, environment
from acp_runtime.processes import ProcessGroup, start

# Starts itself again so many times. All processes have the same stdout and stderr.
CHAIN = """
import subprocess, sys, time
left = int(sys.argv[1])
print(left, file=sys.stderr, flush=True)
if left:
    subprocess.Popen([sys.executable, "-S", __file__, str(left - 1)])
time.sleep(1000)
"""
# Starts the chain, and is gone before it can end it.
LEAVING = """
import asyncio, os, sys
from subprocess import DEVNULL
from acp_runtime.commands import environment
from acp_runtime.processes import start

async def main():
    group = start(sys.executable, ("-S", sys.argv[1], "2"), None, environment(None, True), stdin=DEVNULL, stderr=2)
    sys.stdin.readline()
    os._exit(0)

asyncio.run(main())
"""

windows_only = pytest.mark.skipif(sys.platform != "win32", reason="jobs and cmd.exe of Windows")


@pytest.fixture
def chain(tmp_path: Path) -> Path:
    program = tmp_path / "chain.py"
    program.write_text(CHAIN, "utf-8")
    return program


def start_chain(command: str, *args: str) -> ProcessGroup:
    return start(command, args, None, environment(None, True), stdin=DEVNULL, stderr=subprocess.STDOUT)


def read_until_all_run(pipe: FileIO) -> None:
    output = b""
    while b"0" not in output:
        read = pipe.read(100)
        assert read, f"They have ended, and had written {output!r}."
        output += read


async def end(group: ProcessGroup) -> None:
    """End a chain. Its pipe ends only when all processes have ended."""
    with cast("FileIO", group.popen.stdout) as pipe:
        read_until_all_run(pipe)
        group.end_now()
        assert pipe.read() == b""
    await group.exited


async def test_rule_23_the_descendants_of_a_process_end_with_it(chain: Path) -> None:
    await end(start_chain(sys.executable, "-S", str(chain), "2"))


@windows_only
async def test_rule_23_the_descendants_of_a_script_of_cmd_exe_end_with_it(chain: Path, tmp_path: Path) -> None:
    script = tmp_path / "agent.cmd"
    script.write_text(f'@"{sys.executable}" -S "{chain}" %*\n', "utf-8")
    await end(start_chain(str(script), "2"))
    with pytest.raises(InvalidCommand, match=r"cmd\.exe"):
        start_chain(str(script), "2 & calc")


@windows_only
async def test_rule_23_descendants_that_leave_the_job_of_a_launcher_end_as_well(chain: Path, tmp_path: Path) -> None:
    # The python.exe of a virtual environment starts Python in a job that its children leave without asking; so do
    # Node's. They must not leave the outer job with it, which only allows those that ask.
    venv.create(tmp_path / "venv")
    await end(start_chain(str(tmp_path / "venv" / "Scripts" / "python.exe"), "-S", str(chain), "2"))


@windows_only
def test_rule_23_the_descendants_end_if_this_process_is_gone_before(chain: Path) -> None:
    command = [sys.executable, "-c", LEAVING, str(chain)]
    with subprocess.Popen(command, bufsize=0, stdin=PIPE, stderr=PIPE) as client:
        pipe = cast("FileIO", client.stderr)
        read_until_all_run(pipe)
        client.communicate(b"\n")  # returns when all processes have ended


@pytest.mark.parametrize(
    "program", ["npx.cmd", r"C:\Program Files\nodejs\npx.CMD", "run.bat", "npx.cmd.", "npx.cmd . "]
)
@pytest.mark.parametrize("character", ['"', "%", "&", "|", "<", ">", "^", "!", "\n", "\r"])
def test_an_argument_that_cmd_exe_would_interpret_is_refused(program: str, character: str) -> None:
    with pytest.raises(InvalidCommand, match=r"cmd\.exe runs .* would interpret") as raised:
        check_arguments(program, ("--acp", f"secret{character}"))
    assert repr(character) in str(raised.value)
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("program", ["npx.cmd", "node.exe", "node", "cmd", "x.cmd.exe"])
def test_other_arguments_are_passed_on(program: str) -> None:
    check_arguments(program, ("--yes", "@scope/agent@1.0", "--model=a b", r"C:\folder\\", "(x)", "$HOME", "ä;,'", ""))
    if program != "npx.cmd":
        check_arguments(program, ('{"a": "50%"}', "a&b", "a\nb"))
