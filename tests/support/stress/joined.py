"""Our agent and our client, connected over a link."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from acp_bindings.v1.connecting import AGENT_SIDE, CLIENT_SIDE
from acp_runtime.connection import Connection
from acp_runtime.options import Options
from tests.support.runtime.peer import Link, run_over


@asynccontextmanager
async def joined(
    link: Link, agent: Callable[[Any], Any], client: Callable[[Any], Any], agents: Options, clients: Options
) -> AsyncIterator[tuple[Connection, Connection]]:
    """Run an agent and a client, each with its options, and yield both connections after `initialize`."""
    reader, writer, peer_reader, peer_writer, close = await link("agent")
    serving = Connection(AGENT_SIDE, agent, reader, writer, agents)
    calling = Connection(CLIENT_SIDE, client, peer_reader, peer_writer, clients)
    running = [asyncio.create_task(run_over(*each)) for each in ((reader, serving), (peer_reader, calling))]
    try:
        await calling.remote.initialize(protocol_version=1)
        yield serving, calling
    finally:
        peer_writer.abort()
        writer.abort()
        await asyncio.gather(*running)
        await close()
