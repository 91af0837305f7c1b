"""Programs may write anything at all: the report names it, and never is a traceback."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from acp_kit.checking import peer
from acp_kit.checking.agent import AgentCommand
from acp_kit.checking.agent_scenarios import AGENT_SCENARIOS
from acp_kit.checking.client import ClientCommand
from acp_kit.checking.client_scenarios import CLIENT_SCENARIOS
from acp_kit.checking.report import format_text
from acp_kit.checking.running import Result, run_agent, run_client

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the programs need POSIX")

# Answers each request with the lines for its method; `ID` is its id.
AGENT = """
import json, sys
answers = json.loads(sys.argv[1])
for line in sys.stdin:
    message = json.loads(line)
    for answer in answers.get(message["method"], []):
        sys.stdout.write(answer.replace('"ID"', json.dumps(message.get("id"))) + "\\n")
        sys.stdout.flush()
"""


def result(value: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": "ID", "result": value})


def call(method: str, **members: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", "method": method, **members})


INITIALIZED, OPENED, ENDED = {"protocolVersion": 1}, {"sessionId": "s"}, result({"stopReason": "end_turn"})
NO_PARAMS = call("session/update")
QUESTION = call("session/request_permission", id=1, params={"options": [{"kind": "reject_once"}]})
NO_ID: list[Any] = [3, {"name": "a"}, {"id": ["a"]}]


async def check(scenario: str, *, deadline: float = 60, **answers: list[str]) -> Result:
    """Check an agent that answers so. The method of a name has `/` for `_`, the first time."""
    usual = {"initialize": [result(INITIALIZED)], "session_new": [result(OPENED)], "session_prompt": [ENDED]}
    lines = {name.replace("_", "/", 1): value for name, value in {**usual, **answers}.items()}
    command = AgentCommand(
        [sys.executable, "-I", "-S", "-c", AGENT, json.dumps(lines)], deadline=deadline, quiet_time=0.1
    )
    return await run_agent(AGENT_SCENARIOS[scenario], command)


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        ({"session_prompt": [QUESTION]}, "a line is not valid: session/request_permission: sessionId: Field required"),
        ({"session_prompt": [NO_PARAMS, ENDED]}, "a line is not valid: session/update: sessionId: Field required"),
        ({"session_prompt": [call("fs/paint", id=1), ENDED]}, "a line is not valid: fs/paint: Method not found"),
        ({"session_prompt": ["{", ENDED]}, "a line is not valid: 1 bytes that are not JSON"),
        ({"initialize": ["[" * 100_000, result(INITIALIZED)]}, "a line is not valid: 100000 bytes that are not JSON"),
        ({"session_prompt": [ENDED, ENDED]}, "has the id 2, but no request with this id is pending"),
        ({"session_new": [ENDED.replace('"ID"', "7"), result(OPENED)]}, "has the id 7, but no request"),
        ({"session_prompt": [call("_a", params={"sessionId": ["b"]}), ENDED]}, "for other sessions than 's': [['b']]"),
    ],
)
async def test_an_invalid_line_is_the_reason_even_if_the_scenario_fails(answers: Any, reason: str) -> None:
    checked = await check("messages", deadline=5, **answers)
    assert (checked.status, reason in checked.reason) == ("failed", True), checked.reason


SURROGATE_ID = call("fs/read_text_file", id="\ud800", params={"sessionId": "s", "path": "/a"})
SURROGATE_OPTION = call(
    "session/request_permission",
    id=1,
    params={
        "sessionId": "s",
        "toolCall": {"toolCallId": "t"},
        "options": [{"optionId": "\ud800", "name": "No", "kind": "reject_once"}],
    },
)


@pytest.mark.parametrize(
    "answers",
    [
        {"session_prompt": [SURROGATE_ID, ENDED]},
        {"session_prompt": [SURROGATE_OPTION, ENDED]},
        {"session_new": [result({"sessionId": "\ud800"})]},
    ],
)
async def test_ids_may_have_lone_surrogates(answers: Any) -> None:
    found = await check("messages", deadline=5, **answers)
    assert found.status == "passed", found.reason


async def test_a_request_whose_id_is_a_list_is_not_answered() -> None:
    # A list may be nested so deeply that it can be parsed, but not sent.
    found = await check("config-options", session_new=[call("_a", id=[1]), result(OPENED)])
    assert (found.status, found.reason) == ("skipped", "the session has no config options")
    assert [entry for entry in found.entries if entry.direction == "c2a" and b"[1]" in entry.data] == []


async def test_config_options_without_an_id_are_ignored() -> None:
    opened = result({**OPENED, "configOptions": NO_ID})
    checked = await check("config-options", session_new=[opened])
    assert (checked.status, checked.reason) == ("skipped", "the session has no config options")


async def test_a_client_that_sends_session_new_without_an_id_has_an_invalid_line(tmp_path: Path) -> None:
    lines = [call("initialize", id=1, params={"protocolVersion": 1}), call("session/new", params={})]
    program = tmp_path / "client.py"
    program.write_text(
        "import subprocess, sys\n"
        "agent = subprocess.Popen([sys.argv[1]], stdin=subprocess.PIPE)\n"
        f"agent.communicate({chr(10).join([*lines, '']).encode()!r})\n"
    )
    command = ClientCommand([sys.executable, str(program), "{agent}"], deadline=60)
    checked = await run_client(CLIENT_SCENARIOS["updates-before-session"], command)
    assert checked.reason == "a line is not valid: session/new: the notification session/new is unknown"


async def test_a_flood_is_the_reason_and_ends_the_scenario(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peer, "MAX_LINES", 20)
    checked = await check("cancel", session_prompt=[call("_acme/tick")] * 30)
    assert checked.reason.startswith("the agent wrote more than 20 lines before")


async def test_the_report_escapes_the_output_of_the_program() -> None:
    line = '{"jsonrpc": "2.0", "id": 1, "method": "fs/\x9b31m"}'
    printed = format_text(await check("messages", session_prompt=[line, ENDED]))
    assert "\x9b" not in printed
    assert printed.startswith(r"FAIL  MUST    messages: a line is not valid: fs/\x9b31m: Method not found")
    assert r'<- {"id": 1, "method": "fs/\x9b31m"}' in printed


def test_an_agent_whose_daemon_keeps_its_stdout_is_ended(tmp_path: Path) -> None:
    file = tmp_path / "daemon"
    agent = ["sh", "-c", f"setsid sleep 600 & echo $! > {file}"]
    command = [sys.executable, "-m", "acp_kit", "check-agent", "--only", "exit", "--deadline", "1", "--", *agent]
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert "1 SHOULD failed" in ended.stdout
    finally:
        os.kill(int(file.read_text()), signal.SIGKILL)
