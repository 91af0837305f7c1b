"""Connects an agent and a client: over stdin and stdout, to a subprocess, in memory, or over another transport.

Each generated profile makes a `Connector` of its two sides, and exports its methods as functions.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, Callable, Collection, Coroutine, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from acp_runtime.connection import Connection, run
from acp_runtime.connection.interfaces import ByteSource, ByteWriter
from acp_runtime.jsonrpc.decoding import decoder_of
from acp_runtime.jsonrpc.error_responses import sole_error, wire_error
from acp_runtime.jsonrpc.messages import IncomingRequest, Refused
from acp_runtime.options import DEFAULT_OPTIONS, Options
from acp_runtime.shielded_waits import ShieldedWaits, can_await
from acp_runtime.stubs.roles import Handler, explain_positional
from acp_runtime.stubs.sides import Side
from acp_runtime.transports.memory import MemoryPipe
from acp_runtime.transports.transport import StreamTransport, Transport, TransportEnd

if TYPE_CHECKING:
    from acp_runtime.transports.process import Process

AgentT = TypeVar("AgentT", bound=Handler)
ClientT = TypeVar("ClientT", bound=Handler)
RemoteAgentT = TypeVar("RemoteAgentT")
RemoteClientT = TypeVar("RemoteClientT")
RemoteT = TypeVar("RemoteT")


class Connector(Generic[AgentT, ClientT, RemoteAgentT, RemoteClientT]):
    """The functions of a profile that connect an agent and a client.

    Args:
        agent: the agent's side.
        client: the client's side.
    """

    def __init__(self, agent: Side[RemoteClientT], client: Side[RemoteAgentT]) -> None:
        self._agent = agent
        self._client = client

    async def serve_stdio(
        self, factory: Callable[[RemoteClientT], AgentT], *, options: Options = DEFAULT_OPTIONS
    ) -> None:
        """Serve an agent on this process's stdin and stdout until the client closes them or exits.

        SIGINT and SIGTERM make it return as well, without changing the exit code. A second signal
        cancels the handlers without waiting for them. Until it returns, other code that writes to
        stdout writes to stderr instead, and other code that reads stdin finds it empty.

        Args:
            factory: Makes the agent from the proxy for the client.
            options: How the connection behaves.

        Raises:
            SystemExit: Stdout can't be written although the client is still there, for example because
                the disk is full. The message goes to stderr, and the exit code is 1.
        """
        await on_stdio(lambda reader, writer: _serve(self._agent, factory, reader, writer, options))

    def spawn_agent(
        self,
        client_factory: Callable[[RemoteAgentT], ClientT],
        command: str,
        *args: str,
        cwd: str | Path | None = None,
        env: Mapping[str, str] | None = None,
        inherit_env: bool | Collection[str] | None = None,
        options: Options = DEFAULT_OPTIONS,
    ) -> AbstractAsyncContextManager[RemoteAgentT]:
        """Start an agent as a subprocess, and connect to it as its client until the block ends.

        For example:

            async with spawn_agent(MyClient, "gemini", "--acp") as agent:
                await agent.initialize(protocol_version=1)
                session = await agent.session_new(cwd=os.getcwd(), mcp_servers=[])

        Leaving the block closes the agent's stdin and reads its output until it exits. An agent that
        does not exit within `options.exit_deadline` is terminated, then killed. Processes that it leaves
        behind are ended in the same way. `options.stderr` says where the agent's stderr is copied to,
        by default to this process's stderr.

        Args:
            client_factory: Makes the client from the proxy for the agent.
            command: The program to run.
            args: The program's arguments.
            cwd: The folder to run it in; by default this process's.
            env: Environment variables to set, in addition to the inherited ones or in place of them.
            inherit_env: The environment variables of this process to inherit: all (True), the few that
                every program needs, such as PATH and HOME (False), or those with the given names. By
                default `options.inherit_env`, which is True unless set.
            options: How the connection and the process behave.

        Returns:
            A context manager that yields the proxy for the agent.

        Raises:
            OSError: The command can't be started. The message names the command, and the folder if that
                is the reason.
        """

        def start() -> Process:
            from acp_runtime.commands import environment
            from acp_runtime.transports.process import Process

            inherited = options.inherit_env if inherit_env is None else inherit_env
            return Process(command, args, cwd, environment(env, inherited), options)

        return _within(
            start,
            lambda process: running(self._client, client_factory, process.stdout, process.stdin, options, process),
        )

    def connect_in_process(
        self,
        agent_factory: Callable[[RemoteClientT], AgentT],
        client_factory: Callable[[RemoteAgentT], ClientT],
        *,
        options: Options = DEFAULT_OPTIONS,
    ) -> AbstractAsyncContextManager[RemoteAgentT]:
        """Connect an agent and a client in this process until the block ends.

        Args:
            agent_factory: Makes the agent from the proxy for the client.
            client_factory: Makes the client from the proxy for the agent.
            options: How both ends of the connection behave.

        Returns:
            A context manager that yields the proxy for the agent.
        """
        to_agent, to_client = MemoryPipe(), MemoryPipe()
        return _within(
            lambda: running(self._agent, agent_factory, to_agent, to_client, options),
            lambda _: running(self._client, client_factory, to_client, to_agent, options),
        )

    async def serve_streams(
        self,
        factory: Callable[[RemoteClientT], AgentT],
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        *,
        options: Options = DEFAULT_OPTIONS,
    ) -> None:
        """Serve an agent on a pair of asyncio streams, such as a socket's, until the client closes them.

        Args:
            factory: Makes the agent from the proxy for the client.
            reader: The stream from the client.
            writer: The stream to the client.
            options: How the connection behaves.
        """
        await self.serve(factory, StreamTransport(reader, writer), options=options)

    def connect_streams(
        self,
        client_factory: Callable[[RemoteAgentT], ClientT],
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        *,
        options: Options = DEFAULT_OPTIONS,
    ) -> AbstractAsyncContextManager[RemoteAgentT]:
        """Connect to an agent through a pair of asyncio streams, as its client, until the block ends.

        Args:
            client_factory: Makes the client from the proxy for the agent.
            reader: The stream from the agent.
            writer: The stream to the agent.
            options: How the connection behaves.

        Returns:
            A context manager that yields the proxy for the agent.
        """
        return self.connect(client_factory, StreamTransport(reader, writer), options=options)

    async def serve(
        self, factory: Callable[[RemoteClientT], AgentT], transport: Transport, *, options: Options = DEFAULT_OPTIONS
    ) -> None:
        """Serve an agent over a transport until the client closes it. Then close the transport.

        Args:
            factory: Makes the agent from the proxy for the client.
            transport: An object with the methods of `acp_runtime.transports.Transport`.
            options: How the connection behaves.
        """
        async with TransportEnd(transport, options.flush_deadline) as end:
            await _serve(self._agent, factory, end, end, options)

    def connect(
        self,
        client_factory: Callable[[RemoteAgentT], ClientT],
        transport: Transport,
        *,
        options: Options = DEFAULT_OPTIONS,
    ) -> AbstractAsyncContextManager[RemoteAgentT]:
        """Connect to an agent over a transport, as its client, until the block ends. Then close the transport.

        Args:
            client_factory: Makes the client from the proxy for the agent.
            transport: An object with the methods of `acp_runtime.transports.Transport`.
            options: How the connection behaves.

        Returns:
            A context manager that yields the proxy for the agent.
        """
        end = partial(TransportEnd, transport, options.flush_deadline)
        return _within(end, lambda opened: running(self._client, client_factory, opened, opened, options))


async def _serve(
    side: Side[RemoteT],
    factory: Callable[[RemoteT], Handler],
    source: ByteSource,
    writer: ByteWriter,
    options: Options,
) -> None:
    """Run a connection until the peer leaves. If the factory fails, answer what the peer has sent, and raise."""
    try:
        connection = Connection(side, factory, source, writer, options)
    except BaseException as error:
        await _refuse_all(side, error, source, writer, options)
        raise
    await run(connection)


async def _refuse_all(
    side: Side[Any], error: BaseException, source: ByteSource, writer: ByteWriter, options: Options
) -> None:
    """Answer the peer's requests with an error until one has come, for at most `Options.eof_grace`."""
    refusal = wire_error(sole_error(error), disclose=options.disclose_errors)
    connection = Connection(side, lambda _: Handler(), source, writer, options)
    decode = decoder_of(side).decode

    def refuse(line: bytes) -> None:
        message = decode(line)
        if isinstance(message, (IncomingRequest, Refused)):
            connection.dispatch.receive(line, Refused(message.id, refusal))
            connection.stop()

    connection.reader.receive = refuse
    timer = asyncio.get_running_loop().call_later(options.eof_grace, connection.stop)
    try:
        await run(connection)
    finally:
        timer.cancel()


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
    try:
        connection = Connection(side, factory, source, writer, options, process)
    except BaseException:
        writer.abort()
        raise
    task = asyncio.create_task(run(connection), name=f"acp-{side.role}")
    closing = process.closing if process else ShieldedWaits()
    try:
        yield connection.remote
    except TypeError as error:
        explain_positional(error)
        raise
    finally:
        if not can_await(sys.exception()):
            with suppress(RuntimeError):
                task.cancel()
        else:
            if process is not None:
                process.leave()
            connection.stop()
            await closing.finish(task)
            closing.raise_cancelled()


async def on_stdio(serve: Callable[[ByteSource, ByteWriter], Coroutine[Any, Any, object]]) -> None:
    """Serve on stdin and stdout. SIGINT and SIGTERM cancel that; a second one cuts short the present wait."""
    from acp_runtime.transports.signals import shutdown_signals
    from acp_runtime.transports.stdio import take_over_stdio

    with take_over_stdio() as (reader, writer):
        task = asyncio.create_task(serve(reader, writer), name="acp-stdio")
        closing = ShieldedWaits()
        with shutdown_signals(lambda _: task.cancel()):
            await closing.finish(task)
        closing.raise_cancelled()
        error = writer.error
    if error is not None and not isinstance(error, ConnectionError):
        raise SystemExit(f"The agent ended because it can't write to stdout: {error.strerror or error}.")


@asynccontextmanager
async def _within(
    outer: Callable[[], AbstractAsyncContextManager[Any]], inner: Callable[[Any], AbstractAsyncContextManager[RemoteT]]
) -> AsyncGenerator[RemoteT]:
    """Enter two context managers, the second one with what the first one yields. Yield what the second one yields."""
    async with outer() as opened, inner(opened) as remote:
        yield remote
