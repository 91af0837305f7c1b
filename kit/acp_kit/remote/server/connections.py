"""The connections of an application, each in the task that serves its agent."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from logging import getLogger
from typing import Any

from acp_kit.remote.server.admission import Refused
from acp_runtime.transports import Transport

_logger = getLogger(__name__)


class Connections:
    """Serves an agent to each connection, and ends all of them when the server shuts down.

    Args:
        serve: serves the agent over a transport, for an identity, until the connection ends.
        most: how many connections there may be.
    """

    def __init__(self, serve: Callable[[Transport, Any], Awaitable[None]], most: int) -> None:
        self._serve = serve
        self._most = most
        self._tasks: set[asyncio.Task[Any]] = set()

    def __len__(self) -> int:
        return len(self._tasks)

    def check_room(self) -> None:
        """Raise Refused if there are too many connections."""
        if len(self) >= self._most:
            raise Refused(503, "The server has too many connections. Try again later.", headers={"Retry-After": "10"})

    def start(self, transport: Transport, identity: Any) -> asyncio.Task[bool]:
        """Serve the agent in a task. Its result says whether the agent has ended without an exception."""
        task = asyncio.create_task(self._run(transport, identity), name="acp-connection")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def close(self) -> None:
        """End all connections, and wait until their agents have ended."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _run(self, transport: Transport, identity: Any) -> bool:
        try:
            await self._serve(transport, identity)
        except Exception:
            _logger.exception("A connection has ended because its agent failed")
            return False
        return True
