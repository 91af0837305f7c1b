"""What the report of a test that fails says."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from acp_bindings import v1
from acp_kit.agent import Turn
from acp_kit.recording.file_format import read_recording
from acp_kit.testing import ScriptedAgent, ScriptedClient, connect, wait
from acp_kit.testing.connecting import RECORD
from acp_runtime import ConnectionClosed, RemoteError
from tests.support.event_loop import let_pass
from tests.support.kit.turns import ActingAgent, Viewer
from tools.paths import ROOT

MINUTE = 60.0


async def ask(turn: Turn) -> None:
    async with turn.tool_call("Delete it") as call:
        await call.ask()


async def test_the_deadline_names_the_step_that_waits() -> None:
    agent = ScriptedAgent("one", ["two", wait, "three"])
    with pytest.raises(TimeoutError) as caught:
        async with connect(agent, Viewer, deadline=MINUTE) as session:
            await session.ask("1")
            async with session.prompt("2"):
                await agent.wait_for_prompts(2)
                let_pass(MINUTE)
                await asyncio.Future[None]()
    assert str(caught.value) == "Not done after 60 seconds: prompt 2 of 2 got to step 2 of 3, wait."


async def test_the_deadline_names_the_question_that_is_open() -> None:
    async def hold(request: v1.RequestPermissionRequest) -> str:
        let_pass(MINUTE)
        return await asyncio.Future[str]()

    client = ScriptedClient(permissions=["allow_once", hold])
    with pytest.raises(TimeoutError, match="the client was asked 2 of 2 times"):
        async with connect(lambda peer: ActingAgent(peer, [ask, ask], []), client, deadline=MINUTE) as session:
            await session.ask("1")
            await session.ask("2")


async def test_another_timeout_of_the_block_is_left_alone() -> None:
    with pytest.raises(TimeoutError, match="mine"):
        async with connect(ScriptedAgent(), Viewer):
            raise TimeoutError("mine")


async def test_a_failed_assertion_has_the_scripts_and_the_last_messages() -> None:
    agent = ScriptedAgent([*"abcdefghijklmnopqrstuvwxyz", "x" * 1000])
    with pytest.raises(AssertionError) as caught:
        async with connect(agent, ScriptedClient()) as session:
            await session.ask("what")
            raise AssertionError("it is not so")
    where, messages = caught.value.__notes__
    assert where.startswith("At the end, prompt 1 of 1 got to step 27 of 27, 'xxx")
    assert where.endswith("; the client was asked 0 of 0 times.")
    title, *lines, last = messages.splitlines()
    assert (title, last) == (
        "The last messages (-> to the agent, <- from it):",
        '  <- {"id":2,"result":{"stopReason":"end_turn"}}',
    )
    assert (len(lines), max(map(len, lines))) == (11, 302)


async def fail(turn: Turn) -> None:
    raise KeyError("oops")


async def test_the_exception_of_a_handler_is_in_the_report() -> None:
    with pytest.raises(RemoteError, match="Internal error") as caught:
        async with connect(ScriptedAgent(*[fail] * 5), Viewer) as session:
            for _ in range(4):
                with pytest.raises(RemoteError):
                    await session.ask("1")
            await session.ask("2")
    failures = [note for note in caught.value.__notes__ if note.startswith("The handler of session/prompt failed:")]
    assert len(failures) == 3
    assert failures[0].splitlines()[-2:] == ['    raise KeyError("oops")', "KeyError: 'oops'"]


async def test_the_stderr_of_a_command_is_in_the_report() -> None:
    program = "import sys; print('no module named acme', file=sys.stderr); sys.exit(3)"
    with pytest.raises(ConnectionClosed, match="Exit code: 3") as caught:
        async with connect([sys.executable, "-c", program], Viewer):
            pass
    assert "The agent's stderr:\n  no module named acme" in caught.value.__notes__


async def test_what_is_recorded_can_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(RECORD, str(tmp_path / "new"))
    for _ in range(2):
        async with connect(ScriptedAgent("Hello"), Viewer) as session:
            await session.ask("hi")
    files = sorted((tmp_path / "new").iterdir())
    assert [file.name.rpartition("-")[2] for file in files] == ["1.jsonl", "2.jsonl"]
    assert "test_what_is_recorded_can_be_read" in files[0].name
    sent = [entry.message["method"] for entry in read_recording(files[0]) if entry.direction == "c2a"]
    assert sent == ["initialize", "session/new", "session/prompt"]
    if sys.platform != "win32":
        assert files[0].stat().st_mode & 0o777 == 0o600


TEST = """
import asyncio

from acp_kit.testing import ScriptedAgent, ScriptedClient, connect


def test_fails():
    async def check():
        async with connect(ScriptedAgent("Hello"), ScriptedClient()) as session:
            assert await session.ask("hi") == "Goodbye"

    asyncio.run(check())
"""


@pytest.mark.slow
@pytest.mark.parametrize("option", [[], ["-p", "acp_kit.testing.pytest_plugin", "--acp-record", "wire"]])
def test_pytest_shows_the_messages_without_a_plugin(option: list[str], tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(TEST)
    env = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *option, "test_it.py"]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert "assert 'Hello' == 'Goodbye'" in done.stdout
    assert '<- {"id":2,"result":{"stopReason":"end_turn"}}' in done.stdout
    recordings = [file.name for file in tmp_path.glob("wire/*")]
    assert recordings == (["test_it.py-test_fails-1.jsonl"] if option else [])


async def test_a_step_that_is_not_async_is_named_in_the_traceback() -> None:
    def step(turn: Turn) -> None:
        pass

    script: list[Any] = [step]
    with pytest.raises(RemoteError) as caught:
        async with connect(ScriptedAgent(*script), Viewer) as session:
            await session.ask("hello")
    notes = caught.value.__notes__
    assert notes[0] == "At the end, prompt 1 of 1 got to step 1 of 1, step."
    assert any("TypeError: The step step must be an async function." in note for note in notes)


async def test_the_two_sides_of_a_test_can_not_be_swapped() -> None:
    sides: list[Any] = [ScriptedClient(), ActingAgent]
    for agent, client in (sides, [Viewer, ScriptedAgent()]):
        with pytest.raises(TypeError, match=r"^Pass the agent first: connect\(agent, client\)\.$"):
            async with connect(agent, client):
                pass
