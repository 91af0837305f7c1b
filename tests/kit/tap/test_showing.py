"""The commands `show` and `redact`: their output, which has no secret if it is for sharing."""

from __future__ import annotations

import json
import random
import re
import shutil
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, cast

import pytest

from acp_kit.__main__ import main
from acp_kit.recording.file_format import read_recording
from acp_kit.tap import showing
from tests.support.programs import run_command

UPDATE = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "a\u2028</script>\x1b[31m"}}
SERVER = {"name": "db", "command": "db", "args": ["--api-key", "hunter2"], "env": [{"name": "KEY", "value": "hunter2"}]}
HEADERS = [{"name": "A", "value": "hunter2"}]
HTTP = {"type": "http", "name": "w", "url": "https://u:hunter2@h/?x=hunter2", "headers": HEADERS}
PROMPT = {"sessionId": "s1", "prompt": [{"type": "text", "text": "hi"}]}
MESSAGES: list[tuple[str, Any]] = [
    ("c2a", {"id": 0, "method": "initialize", "params": {"protocolVersion": 1, "_meta": {"a": ["hunter2"], "n": 1}}}),
    ("a2c", {"id": 0, "result": {"protocolVersion": 1}}),
    ("c2a", {"id": 1, "method": "session/new", "params": {"cwd": "/w", "mcpServers": [SERVER, HTTP]}}),
    ("a2c", {"id": 1, "result": {"sessionId": "s1"}}),
    ("c2a", {"id": 2, "method": "session/prompt", "params": PROMPT}),
    ("stderr", "OPENAI_API_KEY=hunter2 and Bearer hunter2hunter2hunter2"),
    ("a2c", {"method": "session/update", "params": {"sessionId": "s1", "update": UPDATE}}),
    ("a2c", {"method": "session/update", "params": {"sessionId": "s2", "update": {"sessionUpdate": "_x"}}}),
    ("a2c", '{"result": {"token": "hunter2'),
    ("c2a", {"id": 3, "method": "authenticate", "params": {"methodId": "m", "_meta": {"token": "hunter2"}}}),
    ("a2c", {"id": 3, "error": {"code": -32000, "message": "Authentication required"}}),
    ("a2c", {"id": 2, "result": {"stopReason": "end_turn"}}),
]
SHOWN = r"""
acp.jsonl: 12 lines, 2 sessions, 1 turn, 2 problems
    1     0.000 -> initialize: version 1 => version 1  (1.0 s)
session s1
    3     2.000 -> session/new: /w => s1  (1.0 s)
    5     4.000 -> turn 1: hi => end_turn  (7.0 s)
    6     5.000 !! stderr: OPENAI_API_KEY=hunter2 and Bearer hunter2hunter2hunter2
    7     6.000   <- agent: a </script>\x1b[31m
session s2
    8     7.000 <- _x
                   PROBLEM: update: Input should have one of the expected tags (rule 12)
    9     8.000 <- not a message: {"result": {"token": "hunter2
                   PROBLEM: 29 bytes that are not JSON (EOF while parsing a string at byte 29) (-32700, rule 3)
   10     9.000 -> authenticate: m => error -32000: Authentication required  (1.0 s)
""".lstrip()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "acp.jsonl"
    with file.open("w", encoding="utf-8") as lines:
        for number, (direction, value) in enumerate(MESSAGES):
            member = {"line": value} if isinstance(value, str) else {"message": {"jsonrpc": "2.0", **value}}
            lines.write(json.dumps({"time": 1_700_000_000 + number, "direction": direction, **member}) + "\n")
    return file


class Embedded(HTMLParser):
    """Finds the JSON in a page as a browser does, and everything that could load something."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.data = ""
        self.loads: list[Any] = []
        self._inside = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._inside = ("id", "recording") in attrs
        self.loads += [(tag, name) for name, _ in attrs if name in ("src", "href", "action", "srcset")]

    def handle_endtag(self, tag: str) -> None:
        self._inside = False

    def handle_data(self, data: str) -> None:
        self.data += data * self._inside


def test_show_prints_what_happened_and_escapes_control_characters(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", str(file)]) == 0
    assert capsys.readouterr().out == SHOWN


HOSTILE = "\x1b]0;owned\x07\u202e\ud83d\n"
HOSTILE_CALL = {"sessionUpdate": "tool_call", "toolCallId": HOSTILE, "title": HOSTILE, "kind": HOSTILE}


@pytest.mark.parametrize(
    "message",
    [
        {"method": HOSTILE},
        {"method": HOSTILE, "id": HOSTILE, "params": {"sessionId": HOSTILE}},
        {"method": "session/update", "params": {"sessionId": HOSTILE, "update": {"sessionUpdate": HOSTILE}}},
        {"method": "session/update", "params": {"sessionId": HOSTILE, "update": HOSTILE_CALL}},
        {"id": HOSTILE, "error": {"code": HOSTILE, "message": HOSTILE, "data": HOSTILE}},
        [HOSTILE],
    ],
)
def test_nothing_that_a_peer_sends_controls_the_terminal(
    message: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "acp.jsonl"
    file.write_text(json.dumps({"direction": "a2c", "message": message}) + "\n")
    assert main(["show", str(file)]) == 0
    shown = capsys.readouterr().out
    assert "owned" in shown
    assert not set("\x1b\x07\u202e\ud83d") & {*shown}


def test_texts_that_the_encoding_of_the_terminal_lacks_are_escaped(file: Path) -> None:
    file.write_text('{"direction":"stderr","line":"\U0001f600"}\n', "utf-8")
    shown = run_command(sys.executable, "-m", "acp_kit", "show", str(file), PYTHONIOENCODING="ascii")
    assert "stderr: \\U0001f600" in shown


def test_the_page_of_a_number_that_python_reads_as_infinite_is_json(tmp_path: Path) -> None:
    file, page = tmp_path / "acp.jsonl", tmp_path / "page.html"
    file.write_text('{"direction":"a2c","message":{"method":"_x","params":[1e400,"Infinity"]}}\n')
    assert main(["show", str(file), "--html", str(page)]) == 0
    assert '[1e999,"Infinity"]' in Embedded(page.read_text("utf-8")).data


@pytest.mark.parametrize(
    ("options", "lines"),
    [
        (["--errors"], [8, 9, 10]),
        (["--method", "session/update"], [7, 8]),
        (["--session", "s1"], [3, 5, 7]),
        (["--session", "s1", "--method", "session/prompt"], [5]),
    ],
)
def test_options_choose_the_rows_that_are_shown(
    options: list[str], lines: list[int], file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["show", str(file), *options])
    shown = re.findall(r"^ +(\d+) +\d+\.\d{3} ", capsys.readouterr().out, re.MULTILINE)
    assert [int(number) for number in shown] == lines


def test_the_exit_code_of_errors_says_whether_there_are_any(file: Path, tmp_path: Path) -> None:
    assert main(["show", "--errors", str(file)]) == 1
    (tmp_path / "right.jsonl").write_text('{"direction":"stderr","line":"ready"}\n')
    assert main(["show", "--errors", str(tmp_path / "right.jsonl")]) == 0


def test_a_redacted_recording_has_no_secret_and_is_as_right_as_before(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = tmp_path / "copy.jsonl"
    assert main(["redact", str(file), "--to", str(copy)]) == 0
    assert "hunter2" not in copy.read_text()
    read, kept = read_recording(file), read_recording(copy)
    assert [entry[:3] for entry in kept] == [entry[:3] for entry in read]
    assert kept[6].message == read[6].message
    assert kept[0].message["params"]["_meta"] == {"a": ["[redacted]"], "n": 1}
    assert kept[2].message["params"]["mcpServers"][0]["args"] == ["--api-key", "[redacted]"]
    main(["show", "--errors", str(copy)])
    assert capsys.readouterr().out.count("PROBLEM") == 2
    assert main(["redact", str(file)]) == 0
    assert capsys.readouterr().out == copy.read_text()


def test_the_page_has_the_redacted_recording_and_loads_nothing(file: Path, tmp_path: Path) -> None:
    assert main(["show", str(file), "--html", str(tmp_path / "page.html")]) == 0
    text = (tmp_path / "page.html").read_text("utf-8")
    embedded = Embedded(text)
    assert embedded.loads == []
    assert "hunter2" not in text
    assert "\u2028" not in text
    recording = json.loads(embedded.data)
    assert recording["messages"]["7"]["params"]["update"] == UPDATE
    assert [row["lines"][0] for row in recording["rows"]] == [1, 3, 5, 6, 7, 8, 9, 10]
    about = {
        "kind": "turn",
        "method": "session/prompt",
        "title": "hi",
        "outcome": "end_turn",
        "session": "s1",
        "turn": 1,
    }
    times = {"lines": [5, 12], "start": 1_700_000_004, "end": 1_700_000_011}
    assert recording["rows"][2] == {"direction": "c2a", **about, **times}


def changed(value: Any, chance: random.Random) -> Any:
    """Return JSON in which some parts are missing or replaced."""
    if chance.random() < 0.05:
        return chance.choice([None, 5, "x", "session/prompt", [], {}, [[1]], {"a": 1}, True])
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value).items()
        return {key: changed(item, chance) for key, item in members if chance.random() > 0.05}
    return [changed(item, chance) for item in cast("list[Any]", value)] if isinstance(value, list) else value


@pytest.mark.parametrize("seed", range(10))
def test_messages_of_any_form_can_be_shown(seed: int, tmp_path: Path) -> None:
    chance, file = random.Random(seed), tmp_path / "acp.jsonl"
    changes = [{"direction": direction, "message": changed(value, chance)} for direction, value in MESSAGES * 20]
    file.write_text("".join(f"{json.dumps(change)}\n" for change in changes if change["message"] is not None))
    assert main(["show", str(file)]) == 0
    assert main(["show", str(file), "--html", str(tmp_path / "page.html")]) == 0


@pytest.mark.test_all
@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_the_script_of_the_page_is_javascript(tmp_path: Path) -> None:
    script = Path(showing.__file__).with_name("page.html").read_text("utf-8").partition("<script>")[2]
    (tmp_path / "page.js").write_text(script.partition("</script>")[0], "utf-8")
    run_command("node", "--check", str(tmp_path / "page.js"))


@pytest.mark.parametrize("command", ["show", "redact"])
def test_a_file_that_can_not_be_shown_is_an_error(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "text").write_text("no recording\n")
    with pytest.raises(SystemExit, match="2"):
        main([command, str(tmp_path / "text")])
    assert "is not a recording" in capsys.readouterr().err
