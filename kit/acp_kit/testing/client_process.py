"""Starts a client as a process, to test it with an agent of this process."""

from __future__ import annotations

import asyncio
import shlex
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process, create_subprocess_exec
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from itertools import chain
from pathlib import Path

from acp_kit.sequences import not_a_text
from acp_kit.testing import relay
from acp_kit.testing.report import Report, reported
from acp_kit.testing.wire import Served
from acp_runtime import Options
from acp_runtime.transports import StreamTransport


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
        command: the program of the client and its arguments. `{agent}` is replaced by what the client has to start: by
            several arguments, or in a longer argument by a line for a shell.
        cwd: the folder to run it in; by default this process's.
        env: its environment variables; by default this process's.
        deadline: after how many seconds the block fails.
    """
    report = Report(Options(), sent="a2c", received="c2a")
    async with reported(report, deadline, agent), _listening(agent, report.options) as started:
        in_shell = shlex.join(started)
        words = [
            started if word == "{agent}" else [word.replace("{agent}", in_shell)]
            for word in not_a_text("command", command)
        ]
        client = await create_subprocess_exec(*chain(*words), cwd=cwd, env=env, stdin=DEVNULL, stdout=PIPE)
        try:
            yield client
        finally:
            if client.returncode is None:
                client.kill()
            await client.communicate()


@asynccontextmanager
async def _listening(agent: Served, options: Options) -> AsyncGenerator[list[str]]:
    """Serve an agent to relays, and yield the command of one."""
    serving: list[asyncio.Task[None] | None] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async def exit(code: int) -> None:
            writer.write(relay.END + str(code).encode())
            writer.close()

        serving.append(asyncio.current_task())
        await agent.serve(StreamTransport(reader, writer), options, exit)

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        try:
            yield [sys.executable, relay.__file__, str(server.sockets[0].getsockname()[1])]
        finally:
            await asyncio.gather(*filter(None, serving))  # the client has ended, and so its agent
