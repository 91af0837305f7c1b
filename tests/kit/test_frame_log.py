"""The log of messages: one JSON object a line, rotated, and never in the way of the connection."""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path
from typing import Any

import pytest

from acp_bindings.v1 import EnvVariable, McpServerStdio, connect_in_process
from acp_kit.frame_log import FrameLog
from acp_runtime import Options
from tests.support.kit.turns import ActingAgent, KeepingClient


def entries(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


async def test_the_messages_of_a_connection_are_logged_in_both_directions(tmp_path: Path) -> None:
    path = tmp_path / "acp.jsonl"
    with FrameLog(path) as log:
        options = Options(on_frame=log)
        async with connect_in_process(
            lambda client: ActingAgent(client, [], []), KeepingClient, options=options
        ) as agent:
            await agent.initialize(protocol_version=1)
            server = McpServerStdio(name="db", command="/db", args=[], env=[EnvVariable(name="TOKEN", value="s3cret")])
            await agent.session_new(cwd="/work", mcp_servers=[server])
    logged = entries(path)
    assert {entry["direction"] for entry in logged} == {"in", "out"}
    methods = [entry["message"].get("method") for entry in logged if entry["direction"] == "out"]
    assert "session/new" in methods
    assert "s3cret" not in path.read_text()
    assert "TOKEN" in path.read_text()


def test_a_line_has_time_direction_size_and_message(tmp_path: Path) -> None:
    path = tmp_path / "acp.jsonl"
    with FrameLog(path) as log:
        log("out", b'{"jsonrpc":"2.0","method":"x"}', 1.0)
        log("in", b"password: x\xff", 1.0)
    entry, unreadable = entries(path)
    assert list(entry) == ["time", "direction", "size", "message"]
    assert (entry["direction"], entry["size"], entry["message"]) == ("out", 30, {"jsonrpc": "2.0", "method": "x"})
    assert entry["time"] > 1_700_000_000
    assert unreadable["message"] == "12 bytes that are not JSON"


def test_a_function_of_ones_own_decides_what_is_written(tmp_path: Path) -> None:
    path = tmp_path / "acp.jsonl"
    with FrameLog(path, redact=lambda line: json.dumps(len(line)).encode()) as log:
        log("out", b'{"jsonrpc":"2.0","method":"x"}', 1.0)
    assert [entry["message"] for entry in entries(path)] == [30]


def test_full_files_are_renamed_and_the_oldest_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "acp.jsonl"
    with FrameLog(path, max_bytes=200, backups=2) as log:
        for number in range(20):
            log("in", json.dumps({"method": str(number)}).encode(), 1.0)
    files = {file.name for file in tmp_path.iterdir()}
    assert files == {"acp.jsonl", "acp.jsonl.1", "acp.jsonl.2"}
    newest_first = [path, tmp_path / "acp.jsonl.1", tmp_path / "acp.jsonl.2"]
    numbers = [int(entry["message"]["method"]) for file in reversed(newest_first) for entry in entries(file)]
    assert numbers == list(range(numbers[0], 20))
    assert all(file.stat().st_size <= 200 for file in newest_first)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
@pytest.mark.parametrize("exists", [False, True])
def test_only_the_owner_can_read_the_file(exists: bool, tmp_path: Path) -> None:
    path = tmp_path / "acp.jsonl"
    if exists:
        path.touch(0o644)
    with FrameLog(path):
        assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this platform has no /dev/full")
def test_a_full_disk_ends_the_log_with_one_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "acp.jsonl"
    path.symlink_to("/dev/full")
    with caplog.at_level(logging.WARNING), FrameLog(path) as log:
        log("in", b'"a"', 1.0)
        log("in", b'"b"', 1.0)
    (record,) = caplog.records
    assert "can't be written, so the log of messages ends: [Errno 28]" in record.getMessage()


@pytest.mark.parametrize("write_first", [True, False])
def test_a_file_that_can_not_be_closed_ends_the_log_with_one_warning(
    write_first: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    log = FrameLog(tmp_path / "acp.jsonl")
    assert log._file is not None
    assert log._file._file is not None
    os.close(log._file._file)
    for _ in range(3 * write_first):
        log("in", b'"a"', 1.0)
    log.close()
    log.close()
    (record,) = caplog.records
    assert "can't be written, so the log of messages ends: [Errno 9]" in record.getMessage()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
async def test_a_file_of_another_user_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(file: int, mode: int) -> None:
        raise PermissionError(mode)

    monkeypatch.setattr(os, "fchmod", refuse)
    with pytest.raises(PermissionError):
        FrameLog(tmp_path / "acp.jsonl")  # after an async test, it is checked that no file is left open


def test_a_file_that_can_not_be_opened_is_an_error_at_once(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        FrameLog(tmp_path / "missing" / "acp.jsonl")


def test_a_closed_log_ignores_messages(tmp_path: Path) -> None:
    log = FrameLog(tmp_path / "acp.jsonl")
    log.close()
    log.close()
    log("in", b'"a"', 1.0)
    assert (tmp_path / "acp.jsonl").read_bytes() == b""


def test_a_negative_number_of_backups_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="backups must be at least 0, not -1"):
        FrameLog(tmp_path / "acp.jsonl", backups=-1)
