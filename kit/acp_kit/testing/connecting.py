"""Connects the two sides of a test."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from acp_bindings import v1
from acp_kit.client import ClientSession, client_capabilities, open_session
from acp_kit.sequences import not_a_text
from acp_kit.testing.agent import ScriptedAgent
from acp_kit.testing.client import ScriptedClient
from acp_kit.testing.replay import Replay
from acp_kit.testing.report import Report, reported
from acp_runtime import Options
from acp_runtime.transports import StreamTransport

Agent: TypeAlias = "ScriptedAgent | Replay | Callable[[v1.RemoteClient], v1.Agent] | Sequence[str]"
Client: TypeAlias = "ScriptedClient | Callable[[v1.RemoteAgent], v1.Client]"


@asynccontextmanager
async def connect(
    agent: Agent,
    client: Client,
    *,
    cwd: str | Path = "/work",
    deadline: float = 10.0,
    capabilities: v1.ClientCapabilities | None = None,
    options: Options | None = None,
) -> AsyncGenerator[ClientSession]:
    """Connect an agent and a client, initialize, and open a session: `async with connect(agent, client) as session`.

    An exception that leaves the block gets notes, which pytest shows: where the scripts are, the last messages, and
    what the agent has written to stderr.

    Args:
        agent: a `ScriptedAgent`, the class of an agent or another factory, or the arguments of a command that starts
            one. An agent that is no command runs in this process, with real messages over a socket.
        client: a `ScriptedClient`, or the class of a client or another factory. The session has updates if the class
            has `UpdateHandlers`.
        cwd: the working directory of the session, absolute.
        deadline: after how many seconds the block fails.
        capabilities: what the client advertises; by default those of the `ScriptedClient`, or what
            `client_capabilities` says of the class.
        options: of both ends of the connection.

    Raises:
        TimeoutError: when the block has not ended at the deadline. The message says which step waits.
    """
    report = Report(options or Options())
    async with reported(report, deadline, agent, client), _connected(agent, client, report.options) as remote:
        if isinstance(client, ScriptedClient):
            capabilities = capabilities or client.capabilities
        await remote.initialize(
            protocol_version=1, client_capabilities=capabilities or client_capabilities(remote.handler)
        )
        async with open_session(remote, cwd=cwd) as session:
            yield session


@asynccontextmanager
async def _connected(agent: Agent, client: Client, options: Options) -> AsyncGenerator[v1.RemoteAgent]:
    if not isinstance(agent, Replay) and not callable(agent):
        async with v1.spawn_agent(client, *not_a_text("agent", agent), options=options) as remote:
            yield remote
        return
    ours, theirs = [await _transport(end) for end in socket.socketpair()]
    own_options = replace(options, on_frame=None)
    serving = asyncio.create_task(
        agent.serve(theirs, own_options, lambda _: theirs.close())
        if isinstance(agent, (ScriptedAgent, Replay))
        else v1.serve(agent, theirs, options=own_options)
    )
    try:
        async with v1.connect(client, ours, options=options) as remote:
            yield remote
    finally:
        await serving


async def _transport(end: socket.socket) -> StreamTransport:
    return StreamTransport(*await asyncio.open_connection(sock=end))
