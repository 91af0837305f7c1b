"""Lets an agent write a file under different clients, and reads in the log of its messages what happened."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import sys
from asyncio.subprocess import PIPE
from dataclasses import dataclass
from pathlib import Path

from tests.support.interop.their_client import Command, connected
from tests.support.paths import ROOT

PEERS = Path(__file__).with_name("peers")
AGENT = PEERS / "writing_agent.py"
TERMINAL_CLIENT = ROOT / "examples" / "terminal_client.py"
DISK = {"disk": True}
HIDDEN = {"error": {"code": -32603, "message": "Internal error", "data": {"details": "The user hides this file"}}}
ALLOWED = {"result": {"outcome": {"outcome": "selected", "optionId": "allow_once"}}}
_NO_ROOT = ["setpriv", "--inh-caps=-all", "--bounding-set=-dac_override,-dac_read_search", "--"]


@dataclass(frozen=True)
class Written:
    """What happened when the agent wrote a file.

    Attributes:
        read: the code of the error that the client answered the read with; None if it gave the text.
        asked: how often the user was asked.
        shown: what the user saw then: the text before the change, None for a new file, or why there is no diff.
        status: the status with which the tool call ended.
        content: the content of the file afterwards.
    """

    read: int | None
    asked: int
    shown: str | None
    status: str
    content: str


def written(log: Path, file: Path) -> Written:
    frames = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    sent = [frame["message"] for frame in frames if frame["direction"] == "out"]
    answers = {
        frame["message"]["id"]: frame["message"]
        for frame in frames
        if frame["direction"] == "in" and "method" not in frame["message"]
    }
    [read] = [answers[message["id"]] for message in sent if message.get("method") == "fs/read_text_file"]
    asked = [message["params"] for message in sent if message.get("method") == "session/request_permission"]
    [content] = asked[0]["toolCall"]["content"]
    updates = [message["params"]["update"] for message in sent if message.get("method") == "session/update"]
    return Written(
        read=read["error"]["code"] if "error" in read else None,
        asked=len(asked),
        shown=content["oldText"] if content["type"] == "diff" else content["content"]["text"],
        status=[update["status"] for update in updates if "status" in update][-1],
        content=file.read_text("utf-8"),
    )


async def under_sdk(command: Command, file: Path, log: Path, *, refused: bool) -> None:
    """Write a file under a client of an SDK, whose handlers let the exceptions of the system out."""
    async with connected(command, str(log), script=AGENT) as client:
        read = HIDDEN if refused else DISK
        await client.set_responses(
            {"fs/read_text_file": read, "fs/write_text_file": DISK, "session/request_permission": ALLOWED}
        )
        await client.initialize()
        await client.call("session/new", {"cwd": str(file.parent), "mcpServers": []})
        assert (await client.prompt(file.name))["stopReason"] == "end_turn"


async def under_acpx(command: Command, file: Path, log: Path, *, refused: bool) -> None:
    """Write a file under acpx, which answers the permission request itself. It can't read what the user may not."""
    if refused:
        file.chmod(0o200)
    options = ["--agent", shlex.join(_agent(log)), "--approve-all", "--format", "json", "--cwd", str(file.parent)]
    drop = _NO_ROOT if os.geteuid() == 0 else []
    await _run([*drop, *command, *options, "exec", file.name], file.parent, {"HOME": str(log.parent)})
    file.chmod(0o600)


async def under_terminal_client(file: Path, log: Path, *, refused: bool) -> None:
    """Write a file under the example of a client, whose user allows it. It reads no file that is not text."""
    if refused:
        file.write_bytes(b"\xff\xfa")
    command = [sys.executable, str(TERMINAL_CLIENT), "--say", file.name, *_agent(log)]
    shown = await _run(command, file.parent, {}, typed=b"1\n")
    assert shown.count(f"? Write {file.name}") == 1
    assert "> completed" in shown


def _agent(log: Path) -> Command:
    return [sys.executable, str(AGENT), str(log)]


async def _run(command: Command, folder: Path, env: dict[str, str], typed: bytes = b"") -> str:
    process = await asyncio.create_subprocess_exec(
        *command, cwd=folder, env={**os.environ, **env}, stdin=PIPE, stdout=PIPE
    )
    output, _ = await process.communicate(typed)
    assert process.returncode == 0, output.decode()
    return output.decode()
