"""The command `ask`, with scripted agents, agents of the official TypeScript SDK, and a terminal."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from acp_kit.__main__ import main
from tests.support.kit import login_agent
from tests.support.programs import Program
from tests.support.skipping import skip_without
from tools.third_party import UnavailableError, acpx

pytestmark = pytest.mark.slow
posix = pytest.mark.skipif(sys.platform == "win32", reason="it needs a terminal or signals of POSIX")

SCRIPT = """
from acp_bindings import v1
from acp_kit.testing import ScriptedAgent, die, ignore_cancel, wait
from acp_runtime import RequestError

async def delete(turn):
    change = v1.ToolCallContentDiff(path="/work/log", old_text="old", new_text="new")
    async with turn.tool_call("Delete \\x1b[31mlogs", kind="delete", content=[change]) as call:
        await call.ask()
        await turn.say("deleted ")

async def refuse(turn):
    return v1.PromptResponse(stop_reason="refusal")
"""
# It remembers its sessions, by their ids.
REMEMBERING = """
import asyncio
from acp_bindings import v1
from acp_kit.content import to_text

class Agent(v1.Agent):
    def __init__(self, client):
        self.client = client

    async def initialize(self, request):
        resume = v1.SessionResumeCapabilities()
        session = v1.SessionCapabilities(**({"resume": resume} if RESUMES else {}))
        capabilities = v1.AgentCapabilities(load_session=True, session_capabilities=session)
        return v1.InitializeResponse(protocol_version=1, agent_capabilities=capabilities)

    async def session_new(self, request):
        return v1.NewSessionResponse(session_id="first")

    async def session_load(self, request):
        await self.say(request.session_id, "from the history")
        self.opened = "loaded"
        return v1.LoadSessionResponse()

    async def session_resume(self, request):
        self.opened = "resumed"
        return v1.ResumeSessionResponse()

    async def session_prompt(self, request):
        await self.say(request.session_id, f"{self.opened} {request.session_id} for {to_text(request.prompt)}")
        return v1.PromptResponse(stop_reason="end_turn")

    async def say(self, session_id, text):
        update = v1.SessionUpdateAgentMessageChunk(content=v1.ContentBlockText(text=text))
        await self.client.session_update(session_id=session_id, update=update)

    opened = "new"

asyncio.run(v1.serve_stdio(Agent))
"""


class Asking:
    """Runs `ask` with scripted agents."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._capsys = capsys

    def command(self, steps: str) -> list[str]:
        """Return the command of an agent that does these steps in its turn."""
        file = self.folder / "script.py"
        file.write_text(f"{SCRIPT}\nagent = ScriptedAgent([{steps}])\n")
        return [sys.executable, "-m", "acp_kit", "agent", str(file)]

    def run(self, *arguments: str, agent: list[str]) -> tuple[int, str, str]:
        """Return the exit code, stdout and stderr."""
        code = main(["ask", *arguments, "--", *agent])
        stdout, stderr = self._capsys.readouterr()
        return code, stdout, stderr

    def events(self, *arguments: str, agent: list[str]) -> tuple[int, list[dict[str, Any]]]:
        """Return the exit code and the objects of `--json`."""
        code, stdout, _ = self.run("--json", *arguments, agent=agent)
        assert stdout.isascii()
        return code, [json.loads(line) for line in stdout.splitlines()]


@pytest.fixture
def asking(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Asking:
    return Asking(tmp_path, capsys)


def test_stdout_has_the_reply_and_nothing_else(asking: Asking) -> None:
    agent = asking.command(r'"one\r", "\n\ttwo \ud83d", delete, "\ude00"')
    code, stdout, stderr = asking.run("hello", "--allow", "delete", agent=agent)
    assert (code, stdout) == (0, "one\n\ttwo \\ud83ddeleted \\ude00\n")
    assert stderr.startswith("> Delete \\x1b[31mlogs\n> Delete \\x1b[31mlogs: completed\n")


def test_halves_of_line_ends_and_of_characters_are_joined(asking: Asking) -> None:
    code, stdout, _ = asking.run("hello", agent=asking.command(r'"a\r", "\nb\r", "c \ud83d", "\ude00\x1b[2J"'))
    assert (code, stdout) == (0, "a\nb\\rc \N{GRINNING FACE}\\x1b[2J\n")


def test_without_a_terminal_permission_is_rejected_with_a_note(asking: Asking) -> None:
    code, stdout, stderr = asking.run("hello", "--allow", "read", agent=asking.command('delete, "done"'))
    assert (code, stdout) == (0, "done\n")
    assert "Rejected: Delete \\x1b[31mlogs (kind delete). There is no terminal to ask you on. See --allow.\n" in stderr


def test_json_has_an_object_for_each_event(asking: Asking) -> None:
    code, events = asking.events("hello", agent=asking.command(r'delete, "done \x1b\ud83d"'))
    assert code == 0
    assert [event["type"] for event in events] == ["session", "update", "permission", "update", "update", "end"]
    assert events[0] == {"type": "session", "sessionId": events[0]["sessionId"]}
    assert events[1]["update"]["sessionUpdate"] == "tool_call"
    assert (events[2]["toolCall"]["kind"], events[2]["optionId"]) == ("delete", None)
    assert {option["kind"] for option in events[2]["options"]} >= {"allow_once", "reject_once"}
    assert events[-1] == {"type": "end", "stopReason": "end_turn", "text": "done \x1b\ud83d"}


@pytest.mark.parametrize("resumes", [False, True])
def test_a_session_goes_on(resumes: bool, asking: Asking) -> None:
    agent = [sys.executable, "-c", f"RESUMES = {resumes}\n{REMEMBERING}"]
    code, stdout, stderr = asking.run("hello", agent=agent)
    assert (code, stdout, stderr.splitlines()[-1]) == (0, "new first for hello\n", "To go on: --session first")
    opened = "resumed" if resumes else "loaded"
    code, stdout, _ = asking.run("again", "--session", "first", agent=agent)
    assert (code, stdout) == (0, f"{opened} first for again\n")


def test_a_session_of_an_agent_that_forgets_them_is_an_error(asking: Asking) -> None:
    code, _, stderr = asking.run("hello", "--session", "1", agent=asking.command('"a"'))
    assert code == 1
    assert "acp-bindings ask: session/load needs 'agentCapabilities.loadSession'" in stderr


def test_a_dash_reads_the_question_from_stdin(asking: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = [sys.executable, "-c", f"RESUMES = True\n{REMEMBERING}"]
    monkeypatch.setattr(sys, "stdin", io.StringIO("from stdin"))
    assert asking.run("-", agent=agent)[:2] == (0, "new first for from stdin\n")


def test_stdin_that_is_not_text_is_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xff"), "utf-8"))
    with pytest.raises(SystemExit, match="2"):
        main(["ask", "-", "--", "agent"])
    assert "error: stdin is not text: 'utf-8' codec" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ([" ", "--", "agent"], "the question is empty"),
        (["hello"], "required: CMD"),
        (["hello", "--allow", "x", "--", "agent"], "argument --allow: 'x' is not a kind"),
        (["hello", "--jsn", "--", "agent"], "there is no option '--jsn'. Did you mean '--json'?"),
    ],
)
def test_a_wrong_argument_is_two(arguments: list[str], problem: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["ask", *arguments])
    assert problem in capsys.readouterr().err


@pytest.mark.parametrize("json_lines", [False, True])
def test_a_needed_login_exits_with_three_and_says_how_to_log_in(
    json_lines: bool, asking: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(asking.folder)
    agent = [sys.executable, login_agent.__file__]
    code, stdout, stderr = asking.run("hello", *(["--json"] if json_lines else []), agent=agent)
    assert code == 3
    assert "Log in with the agent's own program" in stderr
    assert stderr.endswith("It offers these logins:\n  Log in\n")
    assert bool(stdout) == json_lines
    if json_lines:
        (event,) = map(json.loads, stdout.splitlines())
        assert event["type"] == "error"
        assert "Authentication required" in event["message"]


def test_a_login_that_is_needed_for_initialize_is_three(asking: Asking) -> None:
    refuse = """
import json
id = json.loads(input())["id"]
print(json.dumps({"jsonrpc": "2.0", "id": id, "error": {"code": -32000, "message": "Log in"}}), flush=True)
"""
    code, _, stderr = asking.run("hello", agent=[sys.executable, "-c", refuse])
    assert code == 3
    assert "Log in with the agent's own program" in stderr


@posix
@pytest.mark.parametrize("descriptor", [0, 2])
def test_without_stdin_or_stderr_permission_is_rejected(descriptor: int, asking: Asking) -> None:
    program = f"import os, sys; os.close({descriptor}); os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
    agent = asking.command('delete, "done"')
    with Program("-c", program, "-m", "acp_kit", "ask", "hello", "--json", "--", *agent) as closed:
        stdout, stderr = closed.communicate(timeout=60)
    events = [json.loads(line) for line in stdout.splitlines()]
    assert (closed.returncode, b"Traceback" in stderr) == (0, False)
    assert [event["optionId"] for event in events if event["type"] == "permission"] == [None]


@pytest.mark.parametrize(
    ("agent", "advice"),
    [
        (["acp-no-such-agent"], "Install it, or write its whole path: it is not in a folder of PATH."),
        (["/no/such/agent"], "Check the path."),
    ],
)
def test_an_agent_that_can_not_be_started_is_127(agent: list[str], advice: str, asking: Asking) -> None:
    code, stdout, stderr = asking.run("hello", agent=agent)
    assert (code, stdout) == (127, "")
    assert stderr == (f"acp-bindings ask: Can't start the agent {agent[0]!r}: No such file or directory. {advice}\n")


@posix
@pytest.mark.parametrize(
    ("answered", "note"),
    [
        (0, "Waiting for {} to answer. Most agents speak ACP only with an argument, such as --acp.\n"),
        (1, "Waiting for {} to open a session.\n"),
    ],
)
def test_while_an_agent_says_nothing_at_the_start_the_user_is_told(answered: int, note: str) -> None:
    answer = '{"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": 1}}'
    agent = f"import sys\nfor _ in range({answered}): input(), print({answer!r}, flush=True)\nsys.stdin.read()"
    code = (
        "import sys; from acp_kit.asking import command; from acp_kit.__main__ import main\n"
        "command._SILENCE_SECONDS = 0\n"
        "raise SystemExit(main(['ask', 'hello', '--', sys.executable, '-c', sys.argv[1]]))"
    )
    with Program("-c", code, agent) as program:
        assert any(line.decode() == note.format(sys.executable) for line in program.stderr)
        program.send_signal(signal.SIGINT)
        program.communicate(timeout=60)
    assert program.returncode == 130


def test_an_agent_that_ends_is_one_and_its_stderr_is_escaped(asking: Asking) -> None:
    program = r"import sys; sys.stderr.buffer.write('\x1b[31mno k\xe9y\n'.encode()); sys.exit(4)"
    code, events = asking.events("hello", agent=[sys.executable, "-c", program])
    assert code == 1
    assert events == [{"type": "error", "message": "The peer closed the connection. Exit code: 4."}]
    _, _, stderr = asking.run("hello", agent=[sys.executable, "-c", program])
    assert "\\x1b[31mno k\xe9y\n" in stderr


@pytest.mark.parametrize("steps", ['"partly", RequestError(429, "quota")', '"partly", die(3)'])
def test_a_turn_that_fails_is_one(steps: str, asking: Asking) -> None:
    code, stdout, stderr = asking.run("hello", agent=asking.command(steps))
    assert (code, stdout) == (1, "partly\n")
    assert "acp-bindings ask: " in stderr
    assert ("quota" in stderr) == ("quota" in steps)


@posix
@pytest.mark.parametrize(("step", "interrupts"), [("wait", 1), ("ignore_cancel", 2)])
def test_an_interrupt_cancels_the_turn_and_a_second_one_ends_the_agent(
    step: str, interrupts: int, asking: Asking
) -> None:
    with Program("-m", "acp_kit", "ask", "hello", "--", *asking.command(f'"waiting\\n", {step}')) as program:
        assert program.stdout.readline() == b"waiting\n"
        program.send_signal(signal.SIGINT)
        assert program.stderr.readline() == b"Cancelling the turn. Ctrl-C again ends the agent.\n"
        if interrupts == 2:
            program.send_signal(signal.SIGINT)
        _, stderr = program.communicate(timeout=60)
        assert program.returncode == 130
        assert (b"acp-bindings ask: Cancelled." in stderr) == (interrupts == 2)


@posix
@pytest.mark.parametrize(("answers", "reply"), [("1", "deleted done"), ("9 3", "done"), ("\x04", "done")])
def test_on_a_terminal_the_user_decides(answers: str, reply: str, asking: Asking) -> None:
    terminal, theirs = os.openpty()
    command = ["-m", "acp_kit", "ask", "hello", "--", *asking.command('delete, "done"')]
    with Program(*command, stdin=theirs, stderr=theirs) as program:
        os.close(theirs)
        shown = ""
        for number, answer in enumerate(answers.split(" "), 1):
            while shown.count("Which number? ") < number:
                shown += os.read(terminal, 4096).decode()
            os.write(terminal, answer.encode() if answer == "\x04" else f"{answer}\n".encode())
        assert "? Delete \\x1b[31mlogs\r\n  --- /work/log\r\n" in shown
        assert "  -old\r\n  +new\r\n  1. Allow\r\n" in shown
        stdout, _ = program.communicate(timeout=60)
    os.close(terminal)
    assert (program.returncode, stdout.decode()) == (0, f"{reply}\n")


@pytest.mark.test_all
def test_the_example_agent_of_the_typescript_sdk_is_asked_and_permitted(capsys: pytest.CaptureFixture[str]) -> None:
    try:
        node, program = acpx("acpx")
    except UnavailableError as reason:
        skip_without("acpx can't be installed", reason)
    example = Path(program).parents[2] / "@agentclientprotocol" / "sdk" / "dist" / "examples" / "agent.js"
    assert main(["ask", "hello", "--allow", "edit", "--", node, str(example)]) == 0
    printed = capsys.readouterr()
    assert printed.out.endswith("I've successfully updated the configuration. The changes have been applied.\n")
    assert printed.err.splitlines() == [
        "> Reading project files",
        "> Reading project files: completed",
        "> Modifying critical configuration file",
        "> Modifying critical configuration file: completed",
    ]


@posix
def test_a_reader_that_ends_ends_the_command(asking: Asking) -> None:
    command = [sys.executable, "-m", "acp_kit", "ask", "hello", "--", *asking.command(r'"one\n", "two\n", "three\n"')]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
        assert program.stdout is not None
        program.stdout.close()
        program.stdout = None
        _, stderr = program.communicate(timeout=60)
    assert program.returncode == 0
    assert b"Traceback" not in stderr
