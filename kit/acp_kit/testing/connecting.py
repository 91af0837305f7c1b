"""Connects the two sides of a test."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from acp_bindings import v1
from acp_kit.client import ClientSession, client_capabilities, open_session
from acp_kit.sequences import not_a_text
from acp_kit.testing.agent import ScriptedAgent
from acp_kit.testing.client import ScriptedClient
from acp_kit.testing.replay import Replay
from acp_kit.testing.report import Report
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
    scripts = [each for each in (agent, client) if isinstance(each, (ScriptedAgent, Replay, ScriptedClient))]
    waiting: list[str] = []

    def note_waiting() -> None:
        waiting.extend([each.where for each in scripts] + report.pending())

    limit = asyncio.timeout(deadline)
    try:
        async with AsyncExitStack() as stack:
            # Before the timeout cancels the block, which lets the scripts go on.
            stack.callback(asyncio.get_running_loop().call_later(deadline, note_waiting).cancel)
            await stack.enter_async_context(limit)
            remote = await stack.enter_async_context(_connected(agent, client, report.options))
            if isinstance(client, ScriptedClient):
                capabilities = capabilities or client.capabilities
            await remote.initialize(
                protocol_version=1, client_capabilities=capabilities or client_capabilities(remote.handler)
            )
            yield await stack.enter_async_context(open_session(remote, cwd=cwd))
    except BaseException as error:
        if limit.expired() and isinstance(error, TimeoutError):
            error.args = (f"Not done after {deadline:g} seconds: {'; '.join(waiting)}.",)
        elif scripts:
            error.add_note(f"At the end, {'; '.join(each.where for each in scripts)}.")
        for note in report.notes():
            error.add_note(note)
        raise
    finally:
        report.save()


@asynccontextmanager
async def _connected(agent: Agent, client: Client, options: Options) -> AsyncGenerator[v1.RemoteAgent]:
    if not isinstance(agent, Replay) and not callable(agent):
        async with v1.spawn_agent(client, *not_a_text("agent", agent), options=options) as remote:
            yield remote
        return
    ours, theirs = [await _transport(each) for each in socket.socketpair()]
    own_options = replace(options, on_frame=None)
    serving = asyncio.create_task(
        agent.serve(theirs, own_options, lambda _: None)
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
