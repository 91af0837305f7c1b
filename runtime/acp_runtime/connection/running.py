"""Runs a connection until it is closed."""

from __future__ import annotations

import asyncio

from acp_runtime.connection.closing import close
from acp_runtime.connection.connection import Connection
from acp_runtime.connection.shielded_waits import ShieldedWaits
from acp_runtime.errors import ConnectionClosed


async def run(connection: Connection) -> ConnectionClosed:
    """Run until the peer closes its side, `Connection.stop` is called or this is cancelled, and close the connection.

    Returns:
        The reason why it ended.
    """
    closing = ShieldedWaits()
    task = asyncio.create_task(close(connection))
    await closing.finish(task, connection.stop_or_hurry)
    while task.cancelled():
        # After a second Ctrl-C `asyncio.run` cancels every task, this one too.
        connection.stop_or_hurry()
        task = asyncio.create_task(close(connection))
        await closing.finish(task, connection.stop_or_hurry)
    closing.raise_cancelled()
    return task.result()
