"""Runs scenarios: starts the client under test once for each, and its agent's end of the conversation."""

from __future__ import annotations

import asyncio
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Sequence
from dataclasses import dataclass, replace
from tempfile import TemporaryFile
from time import monotonic
from typing import Any, Literal

from acp_kit.checking.client import PROMPT, Client, Command, NotTried, Unmet
from acp_kit.checking.scenarios import Scenario
from acp_kit.recording.file_format import Direction
from acp_kit.testing.processes import start_client


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
    # Without a user, stdin is at its end, and whatever the client asks there has no answer.
    has_user = command.stdin is not None or command.answer is not None or scenario.has_user
    words = [word.replace("{prompt}", PROMPT) for word in command.arguments]
    with TemporaryFile() as output:
        options: dict[str, Any] = {"stdin": PIPE if has_user else DEVNULL, "stdout": output, "stderr": output}
        if command.by_hand:
            options = {"stdin": None, "stdout": None, "start_new_session": False}
        async with start_client(client.serve, words, **options) as client.process:
            watching = asyncio.create_task(client.watch())
            if command.stdin is not None:
                client.type(command.stdin.replace("{prompt}", PROMPT))
            try:
                await scenario.play(client)
            except (Unmet, NotTried) as error:
                status, reason = "failed" if isinstance(error, Unmet) else "skipped", str(error)
            client.leave()
            exit_code = client.process.returncode
        await watching
        output.seek(0)
        printed = output.read().decode(errors="replace")
    return Result(scenario, status, reason, monotonic() - began, exit_code, client.entries, printed)
