"""acpx with an agent of the TypeScript SDK: behind a tap, its session is the same, and nothing recorded is wrong."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
from asyncio.subprocess import PIPE
from pathlib import Path

import pytest

from acp_kit.recording.file_format import read_recording
from acp_kit.tap.analysis import analyse
from tests.interop.driver import Command
from tests.interop.sdks import TYPESCRIPT, command
from tests.support.kit.tapped import tap_command
from tests.support.skipping import skip_without
from tools.third_party import UnavailableError, acpx

pytestmark = pytest.mark.xdist_group("SDKs")

TOOL_CALL = {"sessionUpdate": "tool_call", "toolCallId": "t", "title": "Read", "status": "completed"}


async def session(client: Command, agent: Command, folder: Path) -> bytes:
    """Return what acpx prints of a session in which the agent reads a file and sends updates."""
    read = {"call": "fs/read_text_file", "params": {"path": str(folder / "a.txt")}}
    prompt = json.dumps([{"dump": 1}, {"notify": "session/update", "params": {"update": TOOL_CALL}}, read])
    options = ["--agent", shlex.join(agent), "--approve-all", "--format", "json", "--cwd", str(folder), "exec", prompt]
    env = {**os.environ, "HOME": str(folder)}
    process = await asyncio.create_subprocess_exec(*client, *options, cwd=folder, env=env, stdout=PIPE)
    output, _ = await process.communicate()
    assert process.returncode == 0, output.decode()
    return output


async def test_a_session_is_the_same_behind_a_tap(tmp_path: Path) -> None:
    try:
        client, agent = acpx("acpx"), command(TYPESCRIPT, "agent")
    except UnavailableError as reason:
        skip_without("acpx or the TypeScript SDK can't be installed", reason)
    (tmp_path / "a.txt").write_text("line\n" * 5, "utf-8")
    recording = tmp_path / "acp.jsonl"
    direct = await session(client, agent, tmp_path)
    assert await session(client, tap_command(recording, *agent), tmp_path) == direct

    rows = analyse(read_recording(recording))
    assert [(row.method, row.outcome) for row in rows if row.kind in ("turn", "call")] == [
        ("initialize", "version 1, scripted-agent 1.2.3"),
        ("session/new", "new"),
        ("session/prompt", "end_turn"),
        ("fs/read_text_file", "25 characters"),
    ]
    assert "acpx " in rows[0].title
    assert not any(row.problems for row in rows)
