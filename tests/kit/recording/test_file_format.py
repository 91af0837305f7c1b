"""Recordings are read in three formats: of `tap`, of `FrameLog`, and with `dir` and `msg`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from acp_kit.frame_log import FrameLog
from acp_kit.recording.file_format import Recorded, format_recorded, read_recording
from acp_kit.recording.redaction import redact_recorded

INITIALIZE: dict[str, Any] = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}}
UPDATE: dict[str, Any] = {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s"}}


def write(path: Path, *entries: Any) -> Path:
    path.write_text("".join(f"{json.dumps(entry)}\n" for entry in entries))
    return path


def test_messages_and_lines_are_read(tmp_path: Path) -> None:
    file = write(
        tmp_path / "acp.jsonl",
        {"time": 1.5, "direction": "c2a", "message": INITIALIZE},
        {"time": 2, "direction": "stderr", "line": "warning"},
        {"dir": "a2c", "msg": UPDATE},
    )
    assert read_recording(file) == [
        Recorded(1, "c2a", 1.5, INITIALIZE, None),
        Recorded(2, "stderr", 2, None, "warning"),
        Recorded(3, "a2c", None, UPDATE, None),
    ]


def test_lines_that_were_cut_off_are_left_out(tmp_path: Path) -> None:
    file = tmp_path / "acp.jsonl"
    whole = json.dumps({"direction": "a2c", "message": {"text": "a\u2028b"}}, ensure_ascii=False)
    file.write_text(f'{whole}\n{{"direction": "a2\n{whole}\n{{"time": 1')
    assert [entry.number for entry in read_recording(file)] == [1, 3]


@pytest.mark.parametrize(("first", "second"), [(("out", INITIALIZE), ("in", UPDATE)), (("in", UPDATE), ("in", UPDATE))])
def test_what_comes_in_at_a_client_is_from_the_agent(
    first: tuple[Any, Any], second: tuple[Any, Any], tmp_path: Path
) -> None:
    assert _log(tmp_path, first, second)[-1] == ("a2c", UPDATE)


@pytest.mark.parametrize(
    ("first", "second"), [(("in", INITIALIZE), ("out", UPDATE)), (("out", UPDATE), ("in", INITIALIZE))]
)
def test_what_goes_out_from_an_agent_is_from_the_agent(
    first: tuple[Any, Any], second: tuple[Any, Any], tmp_path: Path
) -> None:
    log = _log(tmp_path, first, second)
    assert ("a2c", UPDATE) in log
    assert {direction for direction, _ in log} == {"a2c", "c2a"}


def test_a_method_that_is_not_a_text_says_nothing_about_the_side(tmp_path: Path) -> None:
    log = _log(tmp_path, ("in", {"jsonrpc": "2.0", "method": ["initialize"]}), ("in", UPDATE))
    assert [direction for direction, _ in log] == ["a2c", "a2c"]


def test_the_note_of_a_log_about_a_line_that_is_not_json_is_a_line(tmp_path: Path) -> None:
    with FrameLog(tmp_path / "acp.jsonl") as log:
        log("out", json.dumps(INITIALIZE).encode(), 0)
        log("in", b"npm warn", 0)
    last = read_recording(tmp_path / "acp.jsonl")[-1]
    assert (last.message, last.line) == (None, "8 bytes that are not JSON")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("hello\nworld\n", "none of its lines is a JSON object"),
        ("[1]\n", "line 1: not an object"),
        ('\n{"direction": "up", "message": {}}\n', "line 2: `direction` is not c2a, a2c or stderr"),
        ('{"direction": "in", "message": {}}\n', "line 1: `direction`"),
        ('{"direction": "a2c", "line": 5}\n', "line 1: `line` is not a text"),
        pytest.param(
            f'{{"direction": "a2c", "message": {"[" * 200_000}1{"]" * 200_000}}}\n',
            "line 1: nested too deeply",
            id="nested",
        ),
    ],
)
def test_other_files_are_refused(content: str, problem: str, tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text(content)
    with pytest.raises(ValueError, match=problem):
        read_recording(file)


@pytest.mark.parametrize("time", ['"2026-11-28T10:00:00Z"', "1e400", "-1", "true", "[]", "9" * 400, "1764000000000"])
def test_times_that_are_not_seconds_are_refused(time: str, tmp_path: Path) -> None:
    file = tmp_path / "acp.jsonl"
    rest = '"direction": "a2c", "message": {}}\n'
    file.write_text(f'{{{rest}{{"time": {time}, {rest}')
    with pytest.raises(ValueError, match="line 2: `time` is not a number of seconds since 1970"):
        read_recording(file)


def test_numbers_that_python_reads_as_infinite_stay_json(tmp_path: Path) -> None:
    file = tmp_path / "acp.jsonl"
    file.write_text('{"direction":"a2c","message":{"Infinity":[1e400,-1e400,"Infinity, 5",NaN]}}\n')
    (entry,) = read_recording(file)
    assert format_recorded(entry) == (
        b'{"direction":"a2c","message":{"Infinity": [1e999, -1e999, "Infinity, 5", null]}}\n'
    )
    assert format_recorded(redact_recorded(entry)) == format_recorded(entry)


def test_an_empty_file_is_a_recording_without_lines(tmp_path: Path) -> None:
    (tmp_path / "acp.jsonl").touch()
    assert read_recording(tmp_path / "acp.jsonl") == []


def _log(folder: Path, *messages: tuple[Any, Any]) -> list[tuple[str, Any]]:
    with FrameLog(folder / "acp.jsonl") as log:
        for direction, message in messages:
            log(direction, json.dumps(message).encode(), 0)
    return [(entry.direction, entry.message) for entry in read_recording(folder / "acp.jsonl")]
