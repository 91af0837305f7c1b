"""Runs scenarios: starts the program under test for each one, and plays its other side."""

from __future__ import annotations

import asyncio
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Sequence
from dataclasses import dataclass, replace
from tempfile import TemporaryDirectory, TemporaryFile
from time import monotonic
from typing import IO, Any, Literal

from acp_kit.checking.agent import Agent, AgentCommand
from acp_kit.checking.client import SESSION, Client, ClientCommand
from acp_kit.checking.peer import PROMPT, Peer, Skipped, Version, Violation
from acp_kit.checking.scenario import Scenario
from acp_kit.recording.file_format import WireLine
from acp_kit.testing.processes import MAX_LINE_BYTES, start_client
from acp_kit.testing.subprocesses import start_process


@dataclass(frozen=True)
class Result:
    """The result of a scenario.

    Attributes:
        scenario: the scenario.
        version: the version of the protocol.
        status: whether the program follows the rule; `skipped` if the scenario could not be played.
        reason: why it failed or was skipped; otherwise empty.
        seconds: how long it took.
        exit_code: the exit code of the program; None if it has not exited by itself.
        entries: all lines on the wire.
        output: the stdout and stderr of a client, the stderr of an agent.
    """

    scenario: Scenario
    version: Version
    status: Literal["passed", "failed", "skipped"]
    reason: str = ""
    seconds: float = 0.0
    exit_code: int | None = None
    entries: Sequence[WireLine] = ()
    output: str = ""


async def run_client(scenario: Scenario, command: ClientCommand) -> Result:
    """Run a scenario with a client.

    Raises:
        OSError: if the client can't be started. The message names the command.
    """
    if scenario.has_user:
        command = replace(command, answer=None)
    arguments = command.load_arguments if scenario.loads else command.arguments
    if arguments is None:
        return Result(scenario, command.version, "skipped", "pass --load-args, which make it load a session")
    client = Client(command)
    words = [word.replace("{prompt}", PROMPT).replace("{session}", SESSION) for word in arguments]
    with TemporaryFile() as output:
        streams = _streams(scenario, command, output)
        async with start_client(client.serve, words, **streams) as client.process:
            watching = asyncio.create_task(client.watch())
            if command.stdin is not None:
                client.type(command.stdin.replace("{prompt}", PROMPT))
            result = await _play(scenario, client)
            client.end_agent()
            exit_code = client.process.returncode
        await watching
        return replace(result, exit_code=exit_code, output=_text(output))


async def run_agent(scenario: Scenario, command: AgentCommand) -> Result:
    """Run a scenario with an agent.

    Raises:
        OSError: if the agent can't be started. The message names the command.
    """
    with TemporaryFile() as output, TemporaryDirectory(prefix="acp-bindings-") as cwd:
        agent = Agent(command, cwd)
        streams: dict[str, Any] = {"stdin": PIPE, "stdout": PIPE, "stderr": output, "limit": MAX_LINE_BYTES}
        async with start_process(command.arguments, **streams) as agent.process:
            assert agent.process.stdin is not None
            assert agent.process.stdout is not None
            serving = asyncio.create_task(agent.serve(agent.process.stdout, agent.process.stdin))
            await asyncio.sleep(0)  # so that it can send
            result = await _play(scenario, agent)
            exit_code = agent.process.returncode
            agent.process.stdin.close()
            await asyncio.wait({serving}, timeout=command.quiet_time)
            serving.cancel()
            await asyncio.gather(serving, return_exceptions=True)
        return replace(result, exit_code=exit_code, output=_text(output))


async def _play(scenario: Scenario, peer: Peer) -> Result:
    started = monotonic()
    status: Literal["passed", "failed", "skipped"] = "passed"
    reason = ""
    try:
        await scenario.play(peer)
    except (Violation, Skipped) as error:
        status = "failed" if isinstance(error, Violation) else "skipped"
        reason = str(error)
    except (AttributeError, LookupError, TypeError, RecursionError):  # usually, because a message is not valid
        try:
            peer.check_lines(noise=False)
        except Violation as violation:
            status = "failed"
            reason = str(violation)
        else:
            raise
    return Result(
        scenario=scenario,
        version=peer.version,
        status=status,
        reason=reason,
        seconds=monotonic() - started,
        entries=peer.entries,
    )


def _text(output: IO[bytes]) -> str:
    output.seek(0)
    return output.read().decode(errors="replace")


def _streams(scenario: Scenario, command: ClientCommand, output: IO[bytes]) -> dict[str, Any]:
    """Return the options for the client's stdin, stdout and stderr."""
    if command.by_hand:
        return {"stdin": None, "stdout": None, "start_new_session": False}
    # Without a user, stdin is empty, so a client that asks there gets no answer.
    has_user = command.stdin is not None or command.answer is not None or scenario.has_user
    return {"stdin": PIPE if has_user else DEVNULL, "stdout": output, "stderr": output}
