"""Scripts and other agents as processes, and clients in another language."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import socket
import subprocess
import sys
from io import BytesIO
from pathlib import Path

import pytest

from acp_bindings import v1
from acp_kit.__main__ import main
from acp_kit.agent import Turn
from acp_kit.testing import ScriptedAgent, ScriptedClient, connect, die, garbage, late, run_client, wait
from acp_kit.testing.relay import END, pass_on
from acp_runtime import ConnectionClosed
from tests.support.event_loop import let_pass
from tests.support.kit.turns import ActingAgent, Viewer

pytestmark = pytest.mark.slow
NODE_AGENT, NODE_CLIENT = (str(Path(__file__).with_name(name)) for name in ("node_agent.mjs", "node_client.mjs"))
SCRIPT = """
print("loading")
from words import WORDS
from acp_kit.testing import ScriptedAgent, die, garbage, late

agent = ScriptedAgent([*WORDS, garbage(), late("late"), "b"], ["last words", die(3)])
"""
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="needs Node")


@pytest.fixture
def command(tmp_path: Path) -> list[str]:
    """Return the command of a script that imports a module beside it."""
    (tmp_path / "words.py").write_text("WORDS = ['a ']")
    (tmp_path / "script.py").write_text(SCRIPT)
    return [sys.executable, "-m", "acp_kit", "agent", str(tmp_path / "script.py")]


async def test_a_script_is_an_agent_for_any_client(command: list[str]) -> None:
    client = ScriptedClient()
    async with connect(command, client) as session:
        assert await session.ask("1") == "a b"
        with pytest.raises(ConnectionClosed, match="Exit code: 3"):
            await session.ask("2")
        assert client.text == "a blatelast words"
    assert session.agent.process is not None
    stderr = session.agent.process.stderr_tail.splitlines()
    assert (stderr[0], stderr[-1]) == ("loading", "acp-bindings: at the end, prompt 2 of 2 got to step 2 of 2, die")


@pytest.mark.parametrize(
    ("command", "content", "problem"),
    [
        ("agent", "", "has no `agent = ScriptedAgent(...)`"),
        ("agent", None, "No such file"),
        ("replay", "hello\n", "is not a recording"),
    ],
)
def test_a_file_of_another_kind_is_one_line(
    command: str, content: str | None, problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "file"
    if content is not None:
        file.write_text(content)
    assert main([command, str(file)]) == 2
    printed = capsys.readouterr()
    assert problem in printed.err
    assert (printed.out, printed.err.count("\n")) == ("", 1)


@pytest.mark.test_all
@needs_node
async def test_an_agent_in_another_language_is_tested_by_its_command() -> None:
    client = ScriptedClient(permissions=["reject_once"])
    async with connect(["node", NODE_AGENT], client) as session:
        assert await session.ask("hello") == "from node"
        assert await session.ask("ask") == "no"
    client.assert_done()


@pytest.mark.test_all
@needs_node
async def test_a_client_in_another_language_gets_the_updates_of_the_script(command: list[str]) -> None:
    agent = ScriptedAgent(["a ", garbage(), late("late"), "b"])
    client = ["node", NODE_CLIENT, "hello"]
    done = subprocess.run([*client, *command], stdin=subprocess.DEVNULL, capture_output=True, check=True, timeout=60)
    async with run_client(agent, [*client, "{agent}"]) as process:
        output, _ = await process.communicate()
    assert output == done.stdout == b"a \nnot JSON: npm warn deprecated\nb\nend_turn\nlate\nexit code 0\n"
    assert process.returncode == 0
    assert agent.prompts[0].prompt == [v1.ContentBlockText(text="hello")]
    agent.assert_done()


@pytest.mark.test_all
@needs_node
async def test_any_agent_serves_a_client_in_another_language() -> None:
    async def say(turn: Turn) -> None:
        await turn.say("from a class")

    async def fail(turn: Turn) -> None:
        raise KeyError("oops")

    command = ["node", NODE_CLIENT, "hello", "{agent}"]
    async with run_client(lambda peer: ActingAgent(peer, [say], []), command, deadline=60) as client:
        output, _ = await client.communicate()
    assert output == b"from a class\nend_turn\nexit code 0\n"
    with pytest.raises(AssertionError) as caught:
        async with run_client(lambda peer: ActingAgent(peer, [fail], []), command, deadline=60) as client:
            output, _ = await client.communicate()
            assert output == b""
    assert caught.value.__notes__[0].endswith("KeyError: 'oops'")


@pytest.mark.test_all
@needs_node
async def test_the_exit_code_of_a_script_reaches_the_client() -> None:
    agent = ScriptedAgent(["last words", die(5)])
    command = ["sh", "-c", 'exec node "$0" hello ${1#--agent=}', NODE_CLIENT, "--agent={agent}"]
    async with run_client(agent, command, deadline=60) as client:
        output, _ = await client.communicate()
    assert output == b"last words\nexit code 5\n"
    agent.assert_done()


@pytest.mark.test_all
@needs_node
async def test_a_client_that_runs_at_the_end_of_the_block_is_killed() -> None:
    agent = ScriptedAgent(wait)
    with pytest.raises(ZeroDivisionError) as caught:
        async with run_client(agent, ["node", NODE_CLIENT, "hello", "{agent}"], deadline=60) as client:
            await agent.wait_for_prompts(1)
            raise ZeroDivisionError
    assert client.returncode not in (None, 0)
    assert '-> {"id":2,"method":"session/prompt"' in caught.value.__notes__[1]


async def test_a_client_that_never_prompts_is_killed_at_the_deadline() -> None:
    program = "import sys; print('started', flush=True); sys.stdin.read(); import threading; threading.Event().wait()"
    with pytest.raises(TimeoutError, match="Not done after 60 seconds: no prompt was sent"):
        async with run_client(ScriptedAgent("a"), [sys.executable, "-c", program], deadline=60) as client:
            assert client.stdout is not None
            await client.stdout.readline()
            let_pass(60)
            await client.wait()
    assert client.returncode not in (None, 0)


STRANGER = """
import socket
import sys
from pathlib import Path

port = Path(sys.argv[1]).read_text().split()[-1]
with socket.create_connection(("127.0.0.1", int(port))) as stranger:
    stranger.sendall(b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}\\n')
    print(stranger.recv(99))
"""


async def test_nobody_else_on_this_machine_reaches_the_script() -> None:
    async with run_client(ScriptedAgent("a"), [sys.executable, "-c", STRANGER, "{agent}"], deadline=60) as client:
        output, _ = await client.communicate()
    assert output.strip() == b"b''"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM")
async def test_sigterm_ends_a_script(tmp_path: Path) -> None:
    file = tmp_path / "script.py"
    file.write_text("from acp_kit.testing import ScriptedAgent, wait\nagent = ScriptedAgent(['a', wait])")
    command = [sys.executable, "-m", "acp_kit", "agent", str(file)]
    async with connect(command, Viewer) as session, session.prompt("1") as turn:
        async for _ in turn:
            break
        assert session.agent.process is not None
        os.kill(session.agent.process.pid, signal.SIGTERM)
        assert (await session.agent.wait_closed()).exit_code == 0


async def test_the_exit_code_may_arrive_after_the_mark_before_it() -> None:
    loop, is_flushed = asyncio.get_running_loop(), asyncio.Event()

    class Stdout(BytesIO):
        def flush(self) -> None:
            loop.call_soon_threadsafe(is_flushed.set)

    ours, theirs = socket.socketpair()
    with ours:
        relaying = asyncio.create_task(asyncio.to_thread(pass_on, theirs, Stdout()))
        ours.sendall(END)
        await is_flushed.wait()
        ours.sendall(b"7")
    assert await relaying == 7


async def test_the_exit_code_of_an_agent_that_leaves_something_unread_arrives() -> None:
    ours, theirs = socket.socketpair()
    with ours:
        theirs.sendall(b"unread")
        ours.sendall(END + b"7")
    assert await asyncio.to_thread(pass_on, theirs, BytesIO()) == 7
