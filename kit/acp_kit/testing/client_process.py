"""Starts a client as a process, to test it with an agent of this process."""

from __future__ import annotations

import asyncio
import shlex
import subprocess
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process, create_subprocess_exec
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from acp_kit._sequences import not_a_text
from acp_kit.testing import relay
from acp_kit.testing.report import Report, reported
from acp_kit.testing.wire import Served
from acp_runtime import Options
from acp_runtime.transports import StreamTransport

_LONGEST_LINE = 2**26


@asynccontextmanager
async def run_client(
    agent: Served,
    command: Sequence[str],
    *,
    cwd: str | Path | None = None,
    env: Mapping[str, str] | None = None,
    deadline: float = 10.0,
) -> AsyncGenerator[Process]:
    """Start a client as a process, for which an agent plays its script in this process.

        async with run_client(agent, ["node", "client.mjs", "{agent}"]) as client:
            assert await client.wait() == 0

    The notes of an exception and the deadline are those of `connect`. A client that runs at the end of the block is
    killed.

    Args:
        agent: a `ScriptedAgent`, or a `Replay`.
        command: the program of the client and its arguments. In each, `{agent}` is replaced by the path of a program
            that the client has to start as its agent.
        cwd: the folder to run it in; by default this process's.
        env: its environment variables; by default this process's.
        deadline: after how many seconds the block fails.
    """
    report = Report(Options(), sent="a2c", received="c2a")

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async def exit(code: int) -> None:
            writer.write(relay.END + str(code).encode())
            writer.close()

        await agent.serve(StreamTransport(reader, writer), report.options, exit)

    async with reported(report, deadline, agent), listening(serve) as program:
        words = [word.replace("{agent}", program) for word in not_a_text("command", command)]
        client = await create_subprocess_exec(*words, cwd=cwd, env=env, stdin=DEVNULL, stdout=PIPE)
        try:
            yield client
        finally:
            if client.returncode is None:
                client.kill()
            await client.communicate()


@asynccontextmanager
async def listening(
    serve: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]],
) -> AsyncGenerator[str]:
    """Make a program that is an agent served here, and yield its path. The client has ended at the end of the block."""
    serving: list[asyncio.Task[None] | None] = []

    async def run(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        serving.append(asyncio.current_task())
        await serve(reader, writer)

    with TemporaryDirectory(prefix="acp-bindings-") as folder:
        async with await asyncio.start_server(run, "127.0.0.1", 0, limit=_LONGEST_LINE) as server:
            port = server.sockets[0].getsockname()[1]
            try:
                yield _program(Path(folder), [sys.executable, relay.__file__, str(port)])
            finally:
                await asyncio.gather(*filter(None, serving))  # with the client, its agent has ended


def _program(folder: Path, command: list[str]) -> str:
    """Return the path of a program that runs a command. It can stand for a command, and for a line of a shell."""
    if sys.platform == "win32":
        program, text = folder / "agent.cmd", f"@{subprocess.list2cmdline(command)}\n"
    else:
        program, text = folder / "agent", f"#!/bin/sh\nexec {shlex.join(command)}\n"
    program.write_text(text, "utf-8")
    program.chmod(0o700)
    return str(program)
