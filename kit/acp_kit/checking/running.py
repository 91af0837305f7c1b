"""Runs scenarios: starts the client under test once for each, and its agent's end of the conversation."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from tempfile import TemporaryFile
from time import monotonic
from typing import IO, Literal

from acp_kit.checking.client import PROMPT, Client, Command, NotTried, Unmet
from acp_kit.checking.scenarios import Scenario
from acp_kit.recording import Direction
from acp_kit.testing.client_process import listening
from acp_runtime.processes import ProcessGroup, start_errors

# Seconds for the client to end after SIGTERM.
_GRACE = 2.0


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
    command = replace(command, answer=None) if scenario.has_user else command
    client, began = Client(command), monotonic()
    status: Literal["passed", "failed", "skipped"] = "passed"
    reason = ""
    with TemporaryFile() as output:
        async with listening(client.serve) as agent, _started(scenario, command, agent, output) as client.process:
            client.process.exited.add_done_callback(lambda _: _note_exit(client))
            if command.stdin is not None:
                client.type(command.stdin.replace("{prompt}", PROMPT))
            try:
                await scenario.play(client)
            except Unmet as unmet:
                status, reason = "failed", str(unmet)
            except NotTried as not_tried:
                status, reason = "skipped", str(not_tried)
            client.leave()
            exit_code = client.process.returncode
        output.seek(0)
        printed = output.read().decode(errors="replace")
    return Result(scenario, status, reason, monotonic() - began, exit_code, client.entries, printed)


def _note_exit(client: Client) -> None:
    if client.process and not client.is_connected:
        client.note_left(f"ended with exit code {client.process.returncode} and started no agent")


@asynccontextmanager
async def _started(scenario: Scenario, command: Command, agent: str, output: IO[bytes]) -> AsyncGenerator[ProcessGroup]:
    """Start the client, and end it after the block."""
    arguments = [argument.replace("{agent}", agent).replace("{prompt}", PROMPT) for argument in command.arguments]
    # Without a user, stdin is at its end, and whatever the client asks there has no answer.
    has_user = command.stdin is not None or command.answer is not None or scenario.has_user
    stdin = None if command.by_hand else subprocess.PIPE if has_user else subprocess.DEVNULL
    stdout = None if command.by_hand else output
    with start_errors("the client ", arguments[0], None, {**os.environ}):
        popen = subprocess.Popen(
            arguments, bufsize=0, stdin=stdin, stdout=stdout, stderr=stdout, start_new_session=not command.by_hand
        )
    process = ProcessGroup(popen, lambda: None)
    try:
        yield process
    finally:
        if command.by_hand:  # it is in the group of this process
            popen.terminate()
        process.signal("SIGTERM")
        await asyncio.wait({process.exited}, timeout=_GRACE)
        popen.kill()
        process.end_now()
        if popen.stdin:
            popen.stdin.close()
