"""What a tap writes: whole lines, which only the owner can read, whatever happens."""

from __future__ import annotations

import json
import random
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from acp_kit.recording.file_format import read_recording
from acp_kit.tap import recorder
from acp_kit.tap.analysis import analyse
from acp_kit.tap.recorder import Recorder
from tests.support.kit.tapped import ECHO, SECONDS, run, start, tap_command

_ANSWER = """
for line in stdin:
    sys.stderr.write("asked\\n")
    sys.stderr.flush()
    stdout.write(b'{"id":1,"result":{}}\\n')
    stdout.flush()
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "acp.jsonl"


def recorded(file: Path) -> list[tuple[str, Any]]:
    return [(entry.direction, entry.message if entry.line is None else entry.line) for entry in read_recording(file)]


def test_messages_have_time_and_direction_and_stderr_is_marked(file: Path) -> None:
    run(file, _ANSWER, b'{"id":1}\n')
    entries = {entry.direction: entry for entry in read_recording(file)}
    assert sorted(recorded(file)) == [("a2c", {"id": 1, "result": {}}), ("c2a", {"id": 1}), ("stderr", "asked")]
    assert entries["a2c"].time is not None
    assert entries["c2a"].time is not None
    assert 1_700_000_000 < entries["c2a"].time < entries["a2c"].time


def test_json_is_kept_as_it_came_and_other_lines_as_text(file: Path) -> None:
    lines = [b'{"a": 1.0, "a":2}', b'"\\ud800"', b'{"n": NaN}', b"\xff", b"[" * 5000, b"cut o"]
    run(file, ECHO, b"\n".join(lines))
    written = file.read_bytes().splitlines()
    assert b'"message":{"a": 1.0, "a":2}}' in written[0]
    sent = [value for direction, value in recorded(file) if direction == "c2a"]
    assert sent == [{"a": 2}, "\ud800", '{"n": NaN}', "\\xff", "[" * 5000, "cut o"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
def test_only_the_owner_can_read_the_recording(file: Path) -> None:
    file.touch(0o644)
    run(file, "")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_the_end_of_an_agent_that_fails_is_recorded(file: Path) -> None:
    run(file, "sys.exit(3)")
    assert recorded(file) == [("stderr", "acp-bindings tap: the agent exited with 3")]


def test_an_agent_that_can_not_be_started_is_recorded_and_a_problem(file: Path) -> None:
    done = subprocess.run(tap_command(file, "no-such-agent"), check=False, capture_output=True, timeout=SECONDS)
    assert done.returncode == 127
    ((direction, line),) = recorded(file)
    assert direction == "stderr"
    assert line.startswith("acp-bindings tap: Can't start 'no-such-agent': ")
    assert line in done.stderr.decode()
    (row,) = analyse(read_recording(file))
    assert row.problems == [(1, line.removeprefix("acp-bindings tap: "))]


@pytest.mark.skipif(sys.platform == "win32", reason="has no SIGTERM")
def test_the_end_of_an_agent_that_its_client_ended_is_no_failure(file: Path) -> None:
    with start(file, "print('ready', flush=True); stdin.read()") as tap:
        assert tap.stdout
        assert tap.stdout.readline() == b"ready\n"
        tap.terminate()
        assert tap.wait(SECONDS) == -signal.SIGTERM
    assert recorded(file) == [("a2c", "ready")]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this platform has no /dev/full")
def test_a_full_disk_ends_the_recording_and_not_the_traffic(file: Path) -> None:
    file.symlink_to("/dev/full")
    done = run(file, ECHO, b'{"id":1}\n' * 1000)
    assert done.stdout == b'{"id":1}\n' * 1000
    assert (
        done.stderr.decode()
        == f"acp-bindings tap: the recording {file} stops here: [Errno 28] No space left on device\n"
    )


def test_what_waits_to_be_written_is_limited(
    file: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(recorder, "_MAX_WAITING", 1000)
    writing = Recorder(file)
    writing.note("c2a", b'{"id":1}\n')
    writing.note("a2c", b"x" * 1001)
    writing.close()
    assert recorded(file) == [("c2a", {"id": 1})]
    assert "stops here: more than 1000 bytes wait to be written" in capfd.readouterr().err


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="has no SIGKILL")
def test_whole_lines_survive_kill_at_any_moment(tmp_path: Path) -> None:
    chance = random.Random(1)
    line = b'{"id":1,"text":"%b"}\n' % (b"x" * 300)
    for number in range(5):
        file = tmp_path / f"{number}.jsonl"
        with start(file, ECHO) as tap:
            assert tap.stdin
            assert tap.stdout
            for _ in range(chance.randrange(1, 40)):
                tap.stdin.write(line * chance.randrange(1, 20))
                tap.stdin.flush()
                assert tap.stdout.readline() == line
            while b"\n" not in file.read_bytes():
                pass  # a recorder that keeps lines in a buffer never gets further
            tap.send_signal(signal.SIGKILL)
            tap.stdout.read()
            assert tap.wait(SECONDS) == -signal.SIGKILL
        *whole, _ = file.read_bytes().split(b"\n")
        assert all(json.loads(entry)["message"] == json.loads(line) for entry in whole)
        assert len(read_recording(file)) == len(whole)
