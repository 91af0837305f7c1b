"""Runs scenarios: starts the client under test for each one, and plays its agent."""

from __future__ import annotations

import asyncio
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Sequence
from dataclasses import dataclass, replace
from tempfile import TemporaryFile
from time import monotonic
from typing import IO, Any, Literal

from acp_kit.checking.client import PROMPT, Client, Command, Skipped, Violation
from acp_kit.checking.scenarios import Scenario
from acp_kit.recording.file_format import WireLine
from acp_kit.testing.processes import start_client


@dataclass(frozen=True)
class Result:
    """The result of a scenario.

    Attributes:
        scenario: the scenario.
        status: whether the client follows the rule; `skipped` if the scenario could not be played.
        reason: why it failed or was skipped; otherwise empty.
        seconds: how long it took.
        exit_code: the exit code of the client; None if it has not exited by itself.
        entries: all lines on the wire.
        output: the stdout and stderr of the client.
    """

    scenario: Scenario
    status: Literal["passed", "failed", "skipped"]
    reason: str
    seconds: float
    exit_code: int | None
    entries: Sequence[WireLine]
    output: str


async def run(scenario: Scenario, command: Command) -> Result:
    """Run a scenario.

    Raises:
        OSError: if the client can't be started. The message names the command.
    """
    command = replace(command, answer=None) if scenario.has_user else command
    client = Client(command)
    started = monotonic()
    status: Literal["passed", "failed", "skipped"] = "passed"
    reason = ""
    words = [word.replace("{prompt}", PROMPT) for word in command.arguments]
    with TemporaryFile() as output:
        streams = _streams(scenario, command, output)
        async with start_client(client.serve, words, **streams) as client.process:
            watching = asyncio.create_task(client.watch())
            if command.stdin is not None:
                client.type(command.stdin.replace("{prompt}", PROMPT))
            try:
                await scenario.play(client)
            except (Violation, Skipped) as error:
                status = "failed" if isinstance(error, Violation) else "skipped"
                reason = str(error)
            client.end_agent()
            exit_code = client.process.returncode
        await watching
        output.seek(0)
        printed = output.read().decode(errors="replace")
    return Result(
        scenario=scenario,
        status=status,
        reason=reason,
        seconds=monotonic() - started,
        exit_code=exit_code,
        entries=client.entries,
        output=printed,
    )


def _streams(scenario: Scenario, command: Command, output: IO[bytes]) -> dict[str, Any]:
    """Return the options for the client's stdin, stdout and stderr."""
    if command.by_hand:
        return {"stdin": None, "stdout": None, "start_new_session": False}
    # Without a user, stdin is empty, so a client that asks there gets no answer.
    has_user = command.stdin is not None or command.answer is not None or scenario.has_user
    return {"stdin": PIPE if has_user else DEVNULL, "stdout": output, "stderr": output}
