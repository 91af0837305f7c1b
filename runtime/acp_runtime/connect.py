"""Connects two sides: over asyncio streams, over stdin and stdout, to a subprocess, or in memory.

The generated profiles call these functions with their sides.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Collection, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from signal import Signals
from typing import TYPE_CHECKING, Any, TypeVar

from acp_runtime.connection import Connection, run
from acp_runtime.connection.handler import leave_if_forked
from acp_runtime.connection.shielded_waits import ShieldedWaits
from acp_runtime.connection.transport import ByteSource, ByteWriter
from acp_runtime.errors import ConnectionClosed
from acp_runtime.options import Options
from acp_runtime.stubs.roles import Handler
from acp_runtime.stubs.sides import Side
from acp_runtime.transports.memory import MemoryPipe
from acp_runtime.transports.streams import StreamOutput, StreamSource

if TYPE_CHECKING:
    from acp_runtime.transports.process import Process

RemoteT = TypeVar("RemoteT")
_PIPE_BUFFER = 64 * 1024


async def serve_streams(
    side: Side[RemoteT],
    factory: Callable[[RemoteT], Handler],
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    options: Options,
) -> None:
    """Serve one side on a pair of asyncio streams until the peer closes them."""
    await run(_connected(side, factory, StreamSource(reader), StreamOutput(writer), options))


@asynccontextmanager
async def connect_streams(
    side: Side[RemoteT],
    factory: Callable[[RemoteT], Handler],
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    options: Options,
) -> AsyncGenerator[RemoteT]:
    """Run one side on a pair of asyncio streams until the block ends. Yield the proxy for the other side."""
    async with running(side, factory, StreamSource(reader), StreamOutput(writer), options) as remote:
        yield remote


@asynccontextmanager
async def connect_in_process(
    agent: Side[Any],
    agent_factory: Callable[[Any], Handler],
    client: Side[RemoteT],
    client_factory: Callable[[RemoteT], Handler],
    options: Options,
) -> AsyncGenerator[RemoteT]:
    """Connect both sides in memory until the block ends. Yield the client's proxy for the agent."""
    to_agent, to_client = MemoryPipe(_PIPE_BUFFER), MemoryPipe(_PIPE_BUFFER)
    serving = running(agent, agent_factory, to_agent, to_client, options)
    calling = running(client, client_factory, to_client, to_agent, options)
    async with serving, calling as remote:
        yield remote


@asynccontextmanager
async def running(
    side: Side[RemoteT],
    factory: Callable[[RemoteT], Handler],
    source: ByteSource,
    writer: ByteWriter,
    options: Options,
    process: Process | None = None,
) -> AsyncGenerator[RemoteT]:
    """Run a connection until the block ends. Yield the proxy for the other side."""
    connection = _connected(side, factory, source, writer, options, process)
    task = asyncio.create_task(run(connection), name=f"acp-{side.role}")
    closing, process_id = process.closing if process else ShieldedWaits(), os.getpid()
    try:
        yield connection.remote
    except GeneratorExit:
        # The event loop has ended: nothing more can be awaited.
        with suppress(RuntimeError):
            task.cancel()
        raise
    except BaseException as error:
        leave_if_forked(process_id, error)
        closing.begin(error)
        await _stop(connection, task, closing, process)
        raise
    else:
        leave_if_forked(process_id)
        await _stop(connection, task, closing, process)


def _connected(
    side: Side[Any],
    factory: Callable[[Any], Handler],
    source: ByteSource,
    writer: ByteWriter,
    options: Options,
    process: Process | None = None,
) -> Connection:
    """Make a connection. If the factory raises, close the stream."""
    try:
        return Connection(side, factory, source, writer, options, process)
    except BaseException:
        writer.abort()
        raise


async def _stop(
    connection: Connection, task: asyncio.Task[ConnectionClosed], closing: ShieldedWaits, process: Process | None
) -> None:
    """Close a connection from this side to the end, even if this is cancelled repeatedly."""
    if process is not None:
        process.leave()
    connection.stop(ConnectionClosed("The connection was closed by this side."))
    await closing.finish(task)
    closing.raise_cancelled()


async def serve_stdio(side: Side[RemoteT], factory: Callable[[RemoteT], Handler], options: Options) -> None:
    """Serve one side on this process's stdin and stdout until the peer closes them or a signal arrives.

    Raises:
        SystemExit: if writing to stdout fails for another reason than the peer having closed it. Python prints its
            message to stderr and exits with code 1.
    """
    from acp_runtime.transports.stdio import take_over_stdio

    with take_over_stdio() as (reader, writer):
        await _until_signalled(Connection(side, factory, reader, writer, options))
        error = writer.error
    if error is not None and not isinstance(error, ConnectionError):
        raise SystemExit(f"The {side.role} ended because it can't write to stdout: {error.strerror or error}.")


async def _until_signalled(connection: Connection) -> None:
    """Run a connection until it ends. SIGINT and SIGTERM end it; a second one cuts short the present wait."""
    from acp_runtime.transports.signals import shutdown_signals

    def signalled(number: Signals) -> None:
        if connection.stopped.done():
            task.cancel()
        else:
            connection.stop(ConnectionClosed(f"{number.name} ended the connection."))

    task = asyncio.create_task(run(connection), name="acp-stdio")
    closing = ShieldedWaits()
    with shutdown_signals(signalled):
        await closing.finish(task)
    closing.raise_cancelled()


@asynccontextmanager
async def spawn(
    side: Side[RemoteT],
    factory: Callable[[RemoteT], Handler],
    command: str,
    args: tuple[str, ...],
    cwd: str | Path | None,
    env: Mapping[str, str] | None,
    inherit_env: bool | Collection[str] | None,
    options: Options,
) -> AsyncGenerator[RemoteT]:
    """Run a command that is the other side until the block ends. Yield the proxy for it.

    Raises:
        OSError: if the command can't start. Its message names the command.
    """
    from acp_runtime.processes import environment
    from acp_runtime.transports.process import Process

    inherited = options.inherit_env if inherit_env is None else inherit_env
    process = Process(command, args, cwd, environment(env, inherited), options)
    async with process, running(side, factory, process.stdout, process.stdin, options, process) as remote:
        yield remote
