"""The agent that the tutorial ends with works under a client without terminals, and goes on after it was killed."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import signal
import sys
from asyncio.subprocess import PIPE
from pathlib import Path
from typing import Any

import pytest

from tests.support.docs.files import steps
from tests.support.skipping import skip_without
from tools.paths import ROOT
from tools.third_party import UnavailableError, acpx

pytestmark = pytest.mark.xdist_group("their clients")

PAGE = ROOT / "docs/learn/tutorial/6-coding-agent.md"


async def test_the_tutorials_coding_agent_goes_on_after_it_was_killed(tmp_path: Path) -> None:
    try:
        client = acpx("acpx")
    except UnavailableError as reason:
        skip_without("acpx can't be installed", reason)
    project, pid = tmp_path / "project", tmp_path / "pid"
    project.mkdir()
    written = {step.current: step.block.text for step in steps(PAGE) if step.block.language == "python"}
    assert sum(len(text.splitlines()) for text in written.values()) <= 120  # with empty lines and the stand-in model
    for name, text in written.items():
        (tmp_path / str(name)).write_text(text, "utf-8")
    start = f"echo $$ > {pid}; exec {shlex.join([sys.executable, str(tmp_path / 'agent.py')])}"
    options = ["--agent", shlex.join(["sh", "-c", start]), "--approve-all", "--no-terminal", "--format", "json"]

    async def run(*arguments: str) -> list[Any]:
        process = await asyncio.create_subprocess_exec(
            *client, *options, *arguments, cwd=project, env={**os.environ, "HOME": str(tmp_path)}, stdout=PIPE
        )
        output, _ = await process.communicate()
        assert process.returncode == 0, output.decode()
        return [json.loads(line) for line in output.splitlines()]

    await run("sessions", "new")
    try:
        await run("prompt", "write hello.py print(6*7)")
        assert (project / "hello.py").read_text() == "print(6*7)\n"
        assert said(await run("prompt", "run python3 hello.py")) == "42\n[exit code 0, timed out: False]"

        first = int(pid.read_text())
        os.kill(first, signal.SIGKILL)
        while is_alive(first):
            await asyncio.sleep(0.01)
        frames = await run("prompt", "And now?")
        assert int(pid.read_text()) != first
        assert "session/load" in [frame.get("method") for frame in frames]
        assert said(frames).endswith("So far: write hello.py print(6*7), run python3 hello.py, And now?")
    finally:
        await run("sessions", "close")


def is_alive(pid: int) -> bool:
    """Whether the process is there, or the client has not yet noticed its end."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def said(frames: list[Any]) -> str:
    """Return the agent's text."""
    updates = [frame["params"]["update"] for frame in frames if frame.get("method") == "session/update"]
    chunks = [update for update in updates if update["sessionUpdate"] == "agent_message_chunk"]
    return "".join(chunk["content"]["text"] for chunk in chunks)
