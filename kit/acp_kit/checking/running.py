"""Runs scenarios: starts the client under test once for each, and its agent's end of the conversation."""

from __future__ import annotations

import asyncio
import os
import secrets
import shlex
import subprocess
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Literal

from acp_kit.checking.client import PROMPT, Client, NotTried, Unmet
from acp_kit.checking.scenarios import Scenario
from acp_kit.recording import Direction
from acp_runtime.processes import ProcessGroup, start_errors

_RELAY = Path(__file__).with_name("relay.py")
# Seconds for the client to end after SIGTERM.
_GRACE = 2.0
_LONGEST_LINE = 2**26


@dataclass(frozen=True)
class Command:
    """How the client under test is started, and used.

    Attributes:
        arguments: the command. In each argument, `{agent}` becomes the path of a program that is the agent, and
            `{prompt}` a prompt.
        stdin: what is typed into its stdin at the start, with `{prompt}`; None for nothing.
        answer: what is typed when the agent asks for permission; None for nothing.
        deadline: the seconds that one step of a scenario may take.
        quiet: for how many seconds a scenario listens to a client that should send nothing.
        by_hand: whether a person uses it: it has this terminal, and stays open.
    """

    arguments: Sequence[str]
    stdin: str | None = None
    answer: str | None = None
    deadline: float = 10.0
    quiet: float = 1.0
    by_hand: bool = False


@dataclass(frozen=True)
class Result:
    """What came of a scenario.

    Attributes:
        scenario: the scenario.
        status: whether the client does what the scenario asks for; `skipped` if that could not be tried.
        reason: why not.
        seconds: how long it took.
        exit_code: of the client, if it has exited by itself.
        entries: the lines that passed, with time and direction.
        output: what the client has printed.
    """

    scenario: Scenario
    status: Literal["passed", "failed", "skipped"]
    reason: str
    seconds: float
    exit_code: int | None
    entries: Sequence[tuple[float, Direction, bytes]]
    output: str


async def run(scenario: Scenario, command: Command) -> Result:
    """Run a scenario.

    Raises:
        OSError: if the client can't be started. The message names the command.
    """
    given = (*command.arguments, command.stdin or "")
    is_prompted = not command.by_hand and any("{prompt}" in each for each in given)
    client = Client(
        command.deadline,
        command.quiet,
        by_hand=command.by_hand,
        is_prompted=is_prompted,
        answer_typed=None if scenario.cancels else command.answer,
    )
    status: Literal["passed", "failed", "skipped"] = "passed"
    reason, began = "", monotonic()
    with TemporaryDirectory(prefix="acp-bindings-") as folder:
        output = Path(folder, "output")
        async with _agent(client, Path(folder)) as agent, _started(scenario, command, agent, output) as process:
            client.process = process
            if command.stdin is not None:
                client.type(command.stdin.replace("{prompt}", PROMPT))
            process.exited.add_done_callback(lambda _: _note_exit(client, process))
            try:
                await scenario.play(client)
            except Unmet as unmet:
                status, reason = "failed", str(unmet)
            except NotTried as not_tried:
                status, reason = "skipped", str(not_tried)
            exit_code = process.returncode
        printed = output.read_text("utf-8", errors="replace") if output.exists() else ""
    return Result(scenario, status, reason, monotonic() - began, exit_code, client.entries, printed)


def _note_exit(client: Client, process: ProcessGroup) -> None:
    if not client.is_connected:
        client.note_left(f"ended with exit code {process.returncode} and started no agent")


@asynccontextmanager
async def _agent(client: Client, folder: Path) -> AsyncGenerator[Path]:
    """Make a program that is the agent of a client."""
    token = secrets.token_hex()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            is_first = await reader.readline() == f"{token}\n".encode() and not client.is_connected
            if is_first:
                await client.serve(reader, writer)
        except (OSError, ValueError) as error:
            client.note_left(f"closed the connection ({error})")
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, limit=_LONGEST_LINE)
    port = server.sockets[0].getsockname()[1]
    arguments = [sys.executable, "-I", "-S", str(_RELAY), str(port), token]
    # One word, so that it can stand for a command and for a command line.
    if sys.platform == "win32":
        program, text = folder / "agent.cmd", f"@{subprocess.list2cmdline(arguments)}\n"
    else:
        program, text = folder / "agent", f"#!/bin/sh\nexec {shlex.join(arguments)}\n"
    program.write_text(text, "utf-8")
    program.chmod(0o700)
    try:
        yield program
    finally:
        server.close()


@asynccontextmanager
async def _started(scenario: Scenario, command: Command, agent: Path, output: Path) -> AsyncGenerator[ProcessGroup]:
    """Start the client, and end it after the block."""
    arguments = [each.replace("{agent}", str(agent)).replace("{prompt}", PROMPT) for each in command.arguments]
    # If a turn is to be cancelled, the question stays open, because a user is there and says nothing.
    has_user = command.stdin is not None or command.answer is not None or scenario.cancels
    stdin = None if command.by_hand else subprocess.PIPE if has_user else subprocess.DEVNULL
    with start_errors("the client ", arguments[0], None, {**os.environ}), output.open("wb") as file:
        popen = subprocess.Popen(
            arguments,
            bufsize=0,
            stdin=stdin,
            stdout=None if command.by_hand else file,
            stderr=None if command.by_hand else subprocess.STDOUT,
            start_new_session=not command.by_hand,
        )
    process = ProcessGroup(popen, lambda: None)
    try:
        yield process
    finally:
        if command.by_hand:
            popen.terminate()
        process.signal("SIGTERM")
        await asyncio.wait({process.exited}, timeout=_GRACE)
        popen.kill()
        process.end_now()
        if popen.stdin is not None:
            popen.stdin.close()
