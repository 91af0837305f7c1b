"""Serves agents of this process to clients in other processes."""

from __future__ import annotations

import asyncio
import secrets
import shlex
import subprocess
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, closing
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

from acp_bindings import v1
from acp_kit.common.sequences import check_sequence
from acp_kit.testing import relay
from acp_kit.testing.connecting import AnyAgent, explaining_failures, serve
from acp_kit.testing.subprocesses import start_process
from acp_runtime import Options
from acp_runtime.transports import StreamTransport

MAX_LINE_BYTES = 64 * 1024 * 1024
"""The limit of a line of a program under test."""


@asynccontextmanager
async def run_client(
    agent: AnyAgent,
    command: Sequence[str],
    *,
    deadline: float = 10.0,
    profile: ModuleType = v1,
    **options: Any,
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
        profile: the profile of a factory, such as `acp_bindings.v2_draft`.
        **options: options of `asyncio.create_subprocess_exec`, such as `cwd` and `env`. By default, stdin is empty,
            stdout a pipe, and the client has a process group of its own.

    Raises:
        TimeoutError: if the block has not ended at the deadline. The message says which step waits.
        OSError: if the client can't be started.
    """
    async with explaining_failures(deadline, agent, sent="a2c", received="c2a") as agent_options:
        serve_agent = partial(serve_relay, agent, agent_options, profile=profile)
        async with start_client(serve_agent, command, **options) as client:
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

    opening = asyncio.start_server(accept, "127.0.0.1", 0, limit=MAX_LINE_BYTES)
    with TemporaryDirectory(prefix="acp-bindings-") as folder, closing(await opening) as server:
        port: int = server.sockets[0].getsockname()[1]
        program = _write_program(Path(folder), token, [sys.executable, relay.__file__, str(port)])
        words = [word.replace("{agent}", program) for word in check_sequence("command", command)]
        defaults: dict[str, Any] = {"stdin": DEVNULL, "stdout": PIPE}
        try:
            async with start_process(words, **(defaults | options)) as client:
                yield client
        finally:
            await asyncio.gather(*filter(None, serving))  # they end with the client


async def serve_relay(
    agent: AnyAgent,
    options: Options,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    *,
    profile: ModuleType = v1,
) -> None:
    """Serve a client at the other end of a relay."""

    async def exit(code: int) -> None:
        writer.write(relay.END + str(code).encode())
        writer.close()

    await serve(agent, StreamTransport(reader, writer), options, exit, profile)


def _write_program(folder: Path, token: str, command: list[str]) -> str:
    """Write a program that runs a command. Return its path, which is also a command line for a shell."""
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
