"""A login method of the type `terminal` runs in the user's terminal."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from acp_bindings import v1, v1_unstable
from acp_kit.client import log_in_from_terminal
from tests.support.kit import login_agent
from tests.support.programs import Program

METHOD = v1.AuthMethodTerminal(id="t", name="Log in")


def python(program: str) -> tuple[str, str, str]:
    return sys.executable, "-c", program


# A client that logs in to an agent from its terminal, twice.
CLIENT = """
import asyncio, os, sys
from acp_bindings import v1
from acp_kit.client import log_in_from_terminal
from tests.support.runtime.peer import PlainClient

async def main(*command):
    capabilities = v1.ClientCapabilities(auth=v1.AuthCapabilities(terminal=True))
    async with v1.spawn_agent(PlainClient, *command) as agent:
        (method,) = (await agent.initialize(protocol_version=1, client_capabilities=capabilities)).auth_methods
    for _ in range(2):
        print("exit code", await log_in_from_terminal(method, *command), flush=True)
    async with v1.spawn_agent(PlainClient, *command) as agent:
        await agent.initialize(protocol_version=1, client_capabilities=capabilities)
        print("session", (await agent.session_new(cwd=os.getcwd(), mcp_servers=[])).session_id, flush=True)

os.chdir(sys.argv[1])
asyncio.run(main(sys.executable, "-S", sys.argv[2]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="it needs a pseudoterminal of POSIX")
def test_the_user_types_into_the_login_of_an_agent_which_is_then_started_again(tmp_path: Path) -> None:
    terminal, theirs = os.openpty()
    client = Program("-c", CLIENT, str(tmp_path), login_agent.__file__, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    shown = read_until(terminal, "Token: ")
    assert "Hello, is this a terminal? True" in shown
    os.write(terminal, b"\n")
    assert "exit code 7" in read_until(terminal, "Token: ")
    os.write(terminal, b"secret\n")
    assert "exit code 0" in read_until(terminal, "session secret")
    assert client.wait(60) == 0
    os.close(terminal)


def read_until(terminal: int, text: str) -> str:
    shown = ""
    while text not in shown:
        try:
            shown += os.read(terminal, 4096).decode()
        except OSError:  # the client has ended
            pytest.fail(f"The client has ended. It showed: {shown}")
    return shown


async def test_the_methods_arguments_and_variables_are_added_and_have_precedence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("C", "inherited")
    program = "import os, sys; open('seen', 'w').write(' '.join([*sys.argv[1:], *map(os.environ.get, 'ABC')]))"
    method = v1.AuthMethodTerminal(id="t", name="Log in", args=["--login"], env={"B": "method"})
    env = {"A": "own", "B": "own"}
    assert await log_in_from_terminal(method, *python(program), "--acp", cwd=tmp_path, env=env) == 0
    assert (tmp_path / "seen").read_text("utf-8") == "--acp --login own method inherited"


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize(("end", "code"), [("sys.exit(3)", 3), ("os.kill(os.getpid(), 9)", -9)])
async def test_the_exit_code_is_reported_and_a_signal_is_a_negative_one(end: str, code: int) -> None:
    assert await log_in_from_terminal(METHOD, *python(f"import os, sys; {end}")) == code


async def test_a_method_of_the_unstable_profile_works() -> None:
    method: Any = v1_unstable.AuthMethodTerminal(id="t", name="Log in")
    assert await log_in_from_terminal(method, *python("")) == 0


async def test_a_method_of_another_type_is_refused() -> None:
    method: Any = v1.AuthMethodAgent(id="browser", name="Log in")
    with pytest.raises(ValueError, match=r"'browser' .*agent\.authenticate"):
        await log_in_from_terminal(method, *python(""))


async def test_a_command_that_does_not_exist_is_named() -> None:
    with pytest.raises(FileNotFoundError, match="Can't start the login 'no-such-agent'"):
        await log_in_from_terminal(METHOD, "no-such-agent")


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("handler", ["SIG_DFL", "SIG_IGN"])
async def test_a_cancelled_login_is_ended_even_if_it_ignores_sigterm(handler: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "started")
    program = f"""
import os, signal, time
signal.signal(signal.SIGTERM, signal.{handler})
open("started", "w").write(str(os.getpid()))
time.sleep(1000)
"""
    task = asyncio.create_task(log_in_from_terminal(METHOD, *python(program), cwd=tmp_path))
    process = int(await asyncio.to_thread((tmp_path / "started").read_text, "utf-8"))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await gone(process)


async def gone(process: int) -> None:
    """Wait until a process has been reaped."""
    while True:
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return
        await asyncio.sleep(0.01)
