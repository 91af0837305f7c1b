"""An agent of the kit creates and replaces files under every client, also under those that refuse to read one."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import sys
from asyncio.subprocess import PIPE
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.interop.driver import Command
from tests.interop.sdks import OURS, PYTHON, TYPESCRIPT, command, connected
from tests.support.skipping import skip_without
from tools.paths import ROOT
from tools.third_party import UnavailableError, acpx

pytestmark = pytest.mark.xdist_group("SDKs")

TERMINAL_CLIENT = ROOT / "examples" / "terminal_client.py"
DISK = {"disk": True}
HIDDEN = {"error": {"code": -32603, "message": "Internal error", "data": {"details": "The user hides this file"}}}
ALLOWED = {"result": {"outcome": {"outcome": "selected", "optionId": "allow_once"}}}
NO_ROOT = ["setpriv", "--inh-caps=-all", "--bounding-set=-dac_override,-dac_read_search", "--"]
NEW, OLD, HIDES = FILES = ("new.txt", "old.txt", "hidden.txt")
ON_DISK = {"fs/read_text_file": DISK, "fs/write_text_file": DISK, "session/request_permission": ALLOWED}


async def under_sdk(sdk: str, folder: Path, agent: Command) -> None:
    """Write files under a client of an SDK, whose handlers let the exceptions of the system out."""
    async with connected(sdk, agent) as client:
        await client.initialize()
        await client.call("session/new", {"cwd": str(folder), "mcpServers": []})
        await client.set_responses(ON_DISK)
        assert (await client.prompt(f"write {NEW} {OLD}"))["stopReason"] == "end_turn"
        await client.set_responses({**ON_DISK, "fs/read_text_file": HIDDEN})
        assert (await client.prompt(f"write {HIDES}"))["stopReason"] == "end_turn"


async def under_acpx(name: str, folder: Path, agent: Command) -> None:
    """Write files under acpx, which answers the permission requests itself. It can't read what the user may not."""
    (folder / HIDES).chmod(0o200)
    options = ["--agent", shlex.join(agent), "--approve-all", "--format", "json", "--cwd", str(folder)]
    drop = NO_ROOT if os.geteuid() == 0 else []
    await run([*drop, *acpx(name), *options, "exec", " ".join(["write", *FILES])], folder)
    (folder / HIDES).chmod(0o600)


async def under_terminal_client(folder: Path, agent: Command) -> None:
    """Write files under the example of a client, whose user allows it. It reads no file that is not text."""
    (folder / HIDES).write_bytes(b"\xff\xfa")
    say = [sys.executable, str(TERMINAL_CLIENT), "--say", " ".join(["write", *FILES]), *agent]
    shown = await run(say, folder, typed=b"1\n1\n1\n")
    assert all(shown.count(f"? Write {name}") == 1 for name in FILES)
    assert shown.count("> completed") == 3


async def run(program: Command, folder: Path, typed: bytes = b"") -> str:
    env = {**os.environ, "HOME": str(folder.parent)}
    process = await asyncio.create_subprocess_exec(*program, cwd=folder, env=env, stdin=PIPE, stdout=PIPE)
    output, _ = await process.communicate(typed)
    assert process.returncode == 0, output.decode()
    return output.decode()


# How to write under each client, and how it answers the read of a missing file and one that it refuses, and what the
# user sees then.
UNREADABLE = "can't be shown: Internal error (-32603): EACCES: permission denied"
CLIENTS: dict[str, tuple[Callable[[Path, Command], Awaitable[None]], int, int, str]] = {
    "acpx": (partial(under_acpx, "acpx"), -32002, -32603, UNREADABLE),
    "acpx before": (partial(under_acpx, "acpx-before"), -32603, -32603, UNREADABLE),
    "Python SDK": (partial(under_sdk, PYTHON), -32603, -32603, "old\n"),
    "TypeScript SDK": (partial(under_sdk, TYPESCRIPT), -32603, -32603, "old\n"),
    "terminal client": (under_terminal_client, -32002, -32602, "is not utf-8 text"),
}


@pytest.mark.parametrize("client", CLIENTS)
async def test_an_agent_writes_files_after_asking_once_for_each(client: str, tmp_path: Path) -> None:
    write, missing, refused, shown = CLIENTS[client]
    log, folder = tmp_path / "messages.jsonl", tmp_path / "project"
    folder.mkdir()
    for name in (OLD, HIDES):
        (folder / name).write_text("old\n", "utf-8")
    try:
        await write(folder, [*command(OURS, "kit_agent"), str(log)])
    except UnavailableError as reason:
        skip_without(f"{client} can't be installed", reason)

    reads, questions, statuses = logged(log)
    assert [read.get("error", {}).get("code") for read in reads] == [missing, None, refused]
    assert questions[:2] == [None, "old\n"]
    assert shown in questions[2]
    assert statuses == ["completed"] * 3
    assert [(folder / name).read_text("utf-8") for name in FILES] == ["new\n"] * 3


def logged(log: Path) -> tuple[list[Any], list[Any], list[str]]:
    """Return the answers to reads, what the user saw in questions, and the last statuses of tool calls.

    In a question, the user sees the text before the change, None for a new file, or why there is no diff.
    """
    frames = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    received = {frame["message"].get("id"): frame["message"] for frame in frames if frame["direction"] == "in"}
    sent = [frame["message"] for frame in frames if frame["direction"] == "out"]
    reads = [received[message["id"]] for message in sent if message.get("method") == "fs/read_text_file"]
    asked = [message["params"] for message in sent if message.get("method") == "session/request_permission"]
    contents = [content for params in asked for content in params["toolCall"]["content"]]
    seen = [content["oldText"] if content["type"] == "diff" else content["content"]["text"] for content in contents]
    updates = [message["params"]["update"] for message in sent if message.get("method") == "session/update"]
    statuses = {update["toolCallId"]: update["status"] for update in updates if "status" in update}
    return reads, seen, [*statuses.values()]
