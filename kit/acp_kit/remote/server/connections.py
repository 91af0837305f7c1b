"""The connections of an application. A task serves each one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from logging import getLogger
from typing import Any

from acp_kit.remote.server.admission import Refused
from acp_runtime.transports import Transport

_logger = getLogger(__name__)


class Connections:
    """Serves an agent to each connection, and ends all of them when the server shuts down.

    Args:
        serve: serves the agent over a transport, for an identity, until the connection ends.
        max_connections: how many connections there may be.
    """

    def __init__(self, serve: Callable[[Transport, Any], Awaitable[None]], max_connections: int) -> None:
        self._serve = serve
        self._max_connections = max_connections
        self._places: dict[object, asyncio.Task[bool] | None] = {}

    @contextmanager
    def place(self) -> Generator[object]:
        """Yield a place for a connection. At the end of the block it is free again, unless `start` has taken it.

        Raises:
            Refused: if there are too many connections.
        """
        if len(self._places) >= self._max_connections:
            raise Refused(503, "The server has too many connections. Try again later.", headers={"Retry-After": "10"})
        place = object()
        self._places[place] = None
        try:
            yield place
        finally:
            if self._places.get(place) is None:
                self._places.pop(place, None)

    def start(self, place: object, transport: Transport, identity: Any) -> asyncio.Task[bool]:
        """Serve the agent in a task, which takes the place. Its result is False if the agent failed."""
        task = asyncio.create_task(self._run(transport, identity), name="acp-connection")
        self._places[place] = task
        task.add_done_callback(lambda _: self._places.pop(place))
        return task

    async def close(self) -> None:
        """End all connections, and wait until their agents have ended."""
        self._max_connections = 0
        tasks = [task for task in self._places.values() if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _run(self, transport: Transport, identity: Any) -> bool:
        try:
            await self._serve(transport, identity)
        except Exception:
            _logger.exception("A connection has ended because its agent failed.")
            return False
        return True
