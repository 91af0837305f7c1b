"""The official functions that connect an agent or a client."""

from __future__ import annotations

import asyncio
from asyncio.subprocess import PIPE
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from acp.transports import default_environment

from acp_kit.official._connections import AgentSideConnection, ClientSideConnection, Connection
from acp_kit.official._processes import StartedProcess, take_stderr
from acp_kit.official._warnings import warn_caller

ConnectionT = TypeVar("ConnectionT", bound=Connection)


async def run_agent(
    agent: Any,
    input_stream: Any = None,
    output_stream: Any = None,
    *,
    use_unstable_protocol: bool = False,
    stdio_buffer_limit_bytes: int = 0,
    **connection_kwargs: Any,
) -> None:
    """Run an agent until its client closes the connection: on stdin and stdout, or on a pair of asyncio streams.

    On stdin and stdout, SIGINT and SIGTERM make it return as well, and what else the process prints goes to stderr.
    """
    if input_stream is None and output_stream is None:
        connection = AgentSideConnection.prepared(
            agent, use_unstable_protocol=use_unstable_protocol, **connection_kwargs
        )
        connection.start(connection.connector.serve_stdio(connection.connected, options=connection.options))
    else:
        connection = AgentSideConnection(
            agent,
            input_stream,
            output_stream,
            listening=False,
            use_unstable_protocol=use_unstable_protocol,
            **connection_kwargs,
        )
    try:
        await connection.listen()
    finally:
        await connection.close()


def connect_to_agent(
    client: Any,
    input_stream: Any,
    output_stream: Any = None,
    *,
    use_unstable_protocol: bool = False,
    **connection_kwargs: Any,
) -> ClientSideConnection:
    """Connect a client to an agent on a pair of asyncio streams."""
    return ClientSideConnection(
        client, input_stream, output_stream, use_unstable_protocol=use_unstable_protocol, **connection_kwargs
    )


@asynccontextmanager
async def spawn_agent_process(
    to_client: Any,
    command: str,
    *args: str,
    env: Mapping[str, str] | None = None,
    cwd: str | Path | None = None,
    transport_kwargs: Mapping[str, Any] | None = None,
    **connection_kwargs: Any,
) -> AsyncGenerator[tuple[ClientSideConnection, StartedProcess]]:
    """Start an agent, and connect a client to it until the block ends."""
    connection = ClientSideConnection.prepared(to_client, **connection_kwargs)
    async with _spawned(connection, command, args, env, cwd, **(transport_kwargs or {})) as process:
        yield connection, process


@asynccontextmanager
async def spawn_client_process(
    to_agent: Any,
    command: str,
    *args: str,
    env: Mapping[str, str] | None = None,
    cwd: str | Path | None = None,
    transport_kwargs: Mapping[str, Any] | None = None,
    **connection_kwargs: Any,
) -> AsyncGenerator[tuple[AgentSideConnection, StartedProcess]]:
    """Start a client, and connect an agent to it until the block ends."""
    connection = AgentSideConnection.prepared(to_agent, **connection_kwargs)
    async with _spawned(connection, command, args, env, cwd, **(transport_kwargs or {})) as process:
        yield connection, process


@asynccontextmanager
async def _spawned(
    connection: Connection,
    command: str,
    args: tuple[str, ...],
    env: Mapping[str, str] | None,
    cwd: str | Path | None,
    *,
    stderr: Any = PIPE,
    limit: int | None = None,
    shutdown_timeout: float = 2.0,
    **transport_kwargs: Any,
) -> AsyncGenerator[StartedProcess]:
    if transport_kwargs:
        names = ", ".join(sorted(transport_kwargs))
        warn_caller(f"acp_kit.official has no argument {names}: it is ignored.", RuntimeWarning)
    destination, stream = take_stderr(stderr)
    options = replace(
        connection.options,
        stderr=destination,
        exit_deadline=shutdown_timeout,
        terminate_deadline=shutdown_timeout,
    )
    environment = {**default_environment(), **(env or {})}
    spawned = connection.connector.spawn_agent(
        connection.connected, command, *args, cwd=cwd, env=environment, inherit_env=(), options=options
    )
    async with AsyncExitStack() as stack:
        if stream is not None:
            stack.callback(stream.end)
        remote = await stack.enter_async_context(spawned)
        connection.end_process = stack.aclose
        process = remote.process
        assert process is not None
        if stream is not None:
            dying = asyncio.create_task(stream.end_after(remote.wait_closed), name="acp-stderr")
            stack.callback(dying.cancel)
        try:
            yield StartedProcess(process, None if stream is None else stream.stream)
        finally:
            if connection.is_closed:
                await connection.close()
