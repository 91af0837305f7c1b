"""The examples do what their docstrings say, in subprocesses that are used as a user would."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from acp_kit.client import open_session
from acp_kit.testing import ScriptedClient, connect
from examples.full_agent import FullAgent
from tests.support.signals import interrupt
from tools.paths import ROOT

# The group shares two chats with the full agent.
pytestmark = pytest.mark.xdist_group("examples")

EXAMPLES = ROOT / "examples"
POEM = "one\ntwo\nthree\n"


@dataclass
class Chat:
    """What the terminal client did in a folder.

    Attributes:
        turns: what it printed for each prompt.
    """

    folder: Path
    turns: list[str]


def _chat(folder: Path, agent: str, *arguments: str, typed: str = "") -> Chat:
    command = [sys.executable, str(EXAMPLES / "terminal_client.py"), *arguments, sys.executable, str(EXAMPLES / agent)]
    done = subprocess.run(command, cwd=folder, input=typed, capture_output=True, text=True, timeout=60, check=False)
    assert done.stderr == ""
    assert done.returncode == 0
    *turns, rest = done.stdout.split("[end_turn]\n")
    assert rest.strip() in ("", ">")
    return Chat(folder, turns)


@pytest.fixture(scope="module")
def granted(tmp_path_factory: pytest.TempPathFactory) -> Chat:
    """A chat with the full agent, whose prompts are arguments and whose user grants every permission."""
    folder = tmp_path_factory.mktemp("granted")
    (folder / "poem.txt").write_text(POEM, "utf-8")
    prompts = (
        "hello there",
        f"read {folder / 'poem.txt'}",
        f"write {folder / 'new' / 'poem.txt'} roses are red",
        "run wc -l poem.txt | tr -d ' '",
    )
    return _chat(folder, "full_agent.py", "--yes", *(word for prompt in prompts for word in ("--say", prompt)))


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Chat:
    """A chat with the full agent, whose user types prompts, allows to read, and refuses to write."""
    folder = tmp_path_factory.mktemp("asked")
    (folder / "poem.txt").write_text(POEM, "utf-8")
    read, write = f"read {folder / 'poem.txt'}", f"write {folder / 'new' / 'poem.txt'} roses are red"
    return _chat(folder, "full_agent.py", typed="\n".join(["first", read, "1", write, "3", "second", ""]))


def test_the_echo_agent_repeats_the_prompt(tmp_path: Path) -> None:
    [turn] = _chat(tmp_path, "echo_agent.py", "--say", "hello there").turns
    assert turn.count("hello there") == 2  # as the prompt, and repeated


def test_the_full_agent_repeats_the_prompt(granted: Chat) -> None:
    assert granted.turns[0].count("hello there") == 2


def test_the_full_agent_reads_a_file_through_the_client_after_asking(granted: Chat) -> None:
    shown = granted.turns[1]
    assert "> completed" in shown
    assert "[completed] Read" in shown
    assert "3 lines" in shown


def test_the_full_agent_writes_a_file_through_the_client_only_with_permission(granted: Chat, asked: Chat) -> None:
    assert "> failed: Rejected by the user" in asked.turns[2]
    assert not (asked.folder / "new").exists()
    assert "> completed" in granted.turns[2]
    assert (granted.folder / "new" / "poem.txt").read_text("utf-8") == "roses are red"


@pytest.mark.skipif(sys.platform == "win32", reason="the line is for a POSIX shell")
def test_the_full_agent_runs_a_line_of_shell(granted: Chat) -> None:
    assert "(exit code 0)" in granted.turns[3]
    assert "poem.txt" in granted.turns[3]


def test_the_terminal_client_reads_prompts_until_the_input_ends(asked: Chat) -> None:
    assert len(asked.turns) == 4
    assert "first" in asked.turns[0]
    assert "second" in asked.turns[3]


def test_the_terminal_client_shows_a_tool_call_before_it_asks_for_permission(asked: Chat) -> None:
    shown = asked.turns[1]
    assert shown.index("> Read") < shown.index("? Read") < shown.index("> completed")


ADDRESS = "https://example.com/login?from=agent#start"
ASKING_AGENT = f"""
import asyncio
from acp_bindings import v1
from acp_kit.agent import Sessions

class AskingAgent(v1.Agent):
    def __init__(self, client):
        self.client = client
        self.sessions = Sessions()

    async def initialize(self, request):
        return v1.InitializeResponse(protocol_version=1)

    async def session_new(self, request):
        return v1.NewSessionResponse(session_id=self.sessions.create(self.client, cwd=request.cwd).id)

    async def session_prompt(self, request):
        async with self.sessions[request.session_id].turn() as turn:
            await turn.say("The answer is " + await turn.elicit_url("Log in.", {ADDRESS!r}))
        return turn.response

asyncio.run(v1.serve_stdio(AskingAgent))
"""


def test_the_terminal_client_shows_a_whole_address_and_asks(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(ASKING_AGENT)
    turns = _chat(tmp_path, str(tmp_path / "agent.py"), typed="one\ny\ntwo\nn\n\n").turns
    for shown, answer in zip(turns, ["accept", "decline"], strict=True):
        assert f"? Log in.\n  {ADDRESS}\nDo you open this address?" in shown
        assert f"The answer is {answer}\n" in shown


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")
@pytest.mark.parametrize(("typed", "asked"), [("", "> "), ("read /poem.txt", "Which? ")])
def test_control_c_ends_the_terminal_client_while_it_waits_for_a_line(typed: str, asked: str, tmp_path: Path) -> None:
    master, slave = os.openpty()
    command = [sys.executable, str(EXAMPLES / "terminal_client.py"), sys.executable, str(EXAMPLES / "full_agent.py")]
    client = subprocess.Popen(command, cwd=tmp_path, stdin=slave, stdout=subprocess.PIPE, text=True)
    with client:
        try:
            assert client.stdout is not None
            if typed:
                os.write(master, f"{typed}\n".encode())
            shown = ""
            while not shown.endswith(asked):
                shown += client.stdout.read(1)
            assert interrupt(client) == 0
        finally:
            client.kill()
            os.close(master)
            os.close(slave)


async def test_the_full_agent_stops_counting_when_it_is_cancelled() -> None:
    async with connect(FullAgent, ScriptedClient(), cwd="/") as session:
        async with session.prompt("count 100000") as turn:
            async for _ in turn:
                await turn.cancel()
        assert turn.stop_reason == "cancelled"
        assert 1 <= len(turn.text.split()) < 100000


async def test_the_full_agent_replays_a_session_before_it_answers_session_load() -> None:
    async with connect(FullAgent, ScriptedClient(), cwd="/") as other:
        async with open_session(other.agent, cwd="/") as session:
            await session.ask("hello world")
        async with open_session(other.agent, cwd="/", load=session.id) as loaded:
            shown = [(message.role, message.text) for message in loaded.state.messages]
    assert shown == [("user", "hello world"), ("agent", "hello world")]
