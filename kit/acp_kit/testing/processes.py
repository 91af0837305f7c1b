"""Serves agents of this process to clients in other processes: in tests, and by the commands `agent` and `replay`."""

from __future__ import annotations

import asyncio
import os
import runpy
import secrets
import shlex
import signal
import socket
import subprocess
import sys
from argparse import Namespace
from asyncio.subprocess import DEVNULL, PIPE, Process, create_subprocess_exec
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, closing, redirect_stdout, suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from acp_kit.common.command_line import CommandParser
from acp_kit.common.sequences import check_sequence
from acp_kit.testing import relay
from acp_kit.testing.agent import ScriptedAgent
from acp_kit.testing.connecting import AnyAgent, reported, serve
from acp_kit.testing.replay import Replay
from acp_runtime import Options
from acp_runtime.transports import StreamTransport, shutdown_signals

_MAX_LINE_BYTES = 64 * 1024 * 1024
# How long a client may take to end after SIGTERM, in seconds.
_GRACE = 2.0


@asynccontextmanager
async def run_client(
    agent: AnyAgent, command: Sequence[str], *, deadline: float = 10.0, **options: Any
) -> AsyncGenerator[Process]:
    """Start a client as a process. Its agent runs in this process.

        async with run_client(agent, ["node", "client.mjs", "{agent}"]) as client:
            assert await client.wait() == 0

    Exceptions get the notes of `connect`. A client that still runs at the end of the block is ended.

    Args:
        agent: a `ScriptedAgent`, a `Replay`, or the class of an agent or another factory.
        command: the program of the client and its arguments. In each, `{agent}` is replaced by the path of a program
            that the client must start as its agent.
        deadline: after how many seconds the block fails.
        **options: options of `asyncio.create_subprocess_exec`, such as `cwd` and `env`. By default, stdin is empty,
            stdout a pipe, and the client has a process group of its own.

    Raises:
        TimeoutError: if the block has not ended at the deadline. The message says which step waits.
        OSError: if the client can't be started.
    """
    reporting = reported(deadline, agent, sent="a2c", received="c2a")
    async with reporting as own, start_client(partial(_serve, agent, own), command, **options) as client:
        yield client


@asynccontextmanager
async def start_client(
    serve: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[object]],
    command: Sequence[str],
    **options: Any,
) -> AsyncGenerator[Process]:
    """Start a client as a process. Its agent is a relay to this process. At the end of the block, the client is ended.

    Args:
        serve: serves the agent to the client, which is at the other end of the relay.
        command: see `run_client`.
        **options: see `run_client`.
    """
    serving: list[asyncio.Task[None] | None] = []
    token = secrets.token_hex()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not secrets.compare_digest(await reader.readline(), f"{token}\n".encode()):
            writer.close()  # another user of this machine
            return
        serving.append(asyncio.current_task())
        await serve(reader, writer)

    opening = asyncio.start_server(accept, "127.0.0.1", 0, limit=_MAX_LINE_BYTES)
    with TemporaryDirectory(prefix="acp-bindings-") as folder, closing(await opening) as server:
        port: int = server.sockets[0].getsockname()[1]
        program = _program(Path(folder), token, [sys.executable, relay.__file__, str(port)])
        words = [word.replace("{agent}", program) for word in check_sequence("command", command)]
        defaults: dict[str, Any] = {"stdin": DEVNULL, "stdout": PIPE, "start_new_session": True}
        client = await create_subprocess_exec(*words, **{**defaults, **options})
        try:
            yield client
        finally:
            for name in ("SIGTERM", "SIGKILL"):
                signal_group(client, name)
                with suppress(TimeoutError):
                    await asyncio.wait_for(client.wait(), _GRACE)
            await client.communicate()
            await asyncio.gather(*filter(None, serving))  # they end with the client


def signal_group(client: Process, name: str) -> None:
    """Send a signal to a client, and to its descendants if the system has process groups."""
    try:
        os.killpg(client.pid, getattr(signal, name))
    except (AttributeError, OSError):  # on Windows, or if it has no group of its own or has ended
        with suppress(ProcessLookupError):
            client.send_signal(getattr(signal, name, signal.SIGTERM))


async def _serve(agent: AnyAgent, options: Options, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Serve a client at the other end of a relay."""

    async def exit(code: int) -> None:
        writer.write(relay.END + str(code).encode())
        writer.close()

    await serve(agent, StreamTransport(reader, writer), options, exit)


def _program(folder: Path, token: str, command: list[str]) -> str:
    """Return the path of a program that runs a command. The path is also a command line for a shell."""
    # Other users can see the arguments of a process, but neither its environment nor files in this folder.
    if sys.platform == "win32":
        program = folder / "agent.cmd"
        text = f"@set ACP_TOKEN={token}\n@{subprocess.list2cmdline(command)}\n"
    else:
        program = folder / "agent"
        text = f"#!/bin/sh\nACP_TOKEN={token} exec {shlex.join(command)}\n"
    program.write_text(text, "utf-8")
    program.chmod(0o700)
    return str(program)


def add_agent(parser: CommandParser) -> None:
    """Add the arguments of `agent`, and set `run`."""
    parser.add_argument("file", metavar="SCRIPT", help="a Python file with `agent = ScriptedAgent(...)`")
    parser.set_defaults(run=partial(_run, _load))


def add_replay(parser: CommandParser) -> None:
    """Add the arguments of `replay`, and set `run`."""
    parser.add_argument("file", metavar="FILE", help="a recording, such as one of `acp-bindings tap`")
    parser.set_defaults(run=partial(_run, Replay))


def _load(file: str) -> ScriptedAgent | Replay:
    sys.path.insert(0, str(Path(file).parent))
    try:
        agent = runpy.run_path(file).get("agent")
    except ValueError as error:  # other errors of a script are shown with their traceback, so this one, too
        raise RuntimeError(f"{file} has raised {error!r}") from error
    if not isinstance(agent, (ScriptedAgent, Replay)):
        raise ValueError(f"{file} has no `agent = ScriptedAgent(...)`")
    return agent


def _run(load: Callable[[str], ScriptedAgent | Replay], options: Namespace) -> int:
    try:
        with redirect_stdout(sys.stderr):  # stdout is for messages
            agent = load(options.file)
            code = asyncio.run(_serve_stdio(agent))
    except ValueError as error:
        sys.stderr.write(f"acp-bindings: {error}\n")
        return 2
    sys.stderr.write(f"acp-bindings: at the end, {agent.where}\n")
    return code


async def _serve_stdio(agent: ScriptedAgent | Replay) -> int:
    """Serve an agent until the client closes stdin, or SIGINT or SIGTERM arrives. Return the exit code."""
    ours, theirs = socket.socketpair()
    with open(os.dup(1), "wb") as stdout, shutdown_signals(lambda _: theirs.shutdown(socket.SHUT_WR)):
        os.dup2(2, 1)  # so that output of child processes doesn't get between the messages
        relaying = asyncio.create_task(asyncio.to_thread(relay.pass_on, theirs, stdout))
        await _serve(agent, Options(), *await asyncio.open_connection(sock=ours))
        return await relaying
