"""The connections of an application. A task serves each one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from logging import ERROR, getLogger
from typing import Any

from acp_kit.remote.server.requests import Refused
from acp_runtime.logs import log
from acp_runtime.transports import Transport

_logger = getLogger(__name__)


@dataclass(eq=False, slots=True)
class Place:
    """A place for a connection, from the first request on.

    Attributes:
        on_end: ends the connection.
        identity: who has it; None if there is no `authenticate`.
        task: serves the agent, once the connection is open.
    """

    on_end: Callable[[], object] = lambda: None
    identity: Any = None
    task: asyncio.Task[bool] | None = None

    def end(self) -> None:
        """End the connection."""
        self.on_end()


class Connections:
    """Serves an agent to each connection, and ends all of them when the server shuts down.

    Args:
        serve: serves the agent over a transport, for an identity, until the connection ends.
        max_connections: how many connections there may be. One identity may have half of them.
    """

    def __init__(self, serve: Callable[[Transport, Any], Awaitable[None]], max_connections: int) -> None:
        self._serve = serve
        self._max_connections = max_connections
        self._places = set[Place]()

    @contextmanager
    def place(self) -> Generator[Place]:
        """Yield a place for a connection. At the end of the block it is free again, unless `start` has taken it.

        Raises:
            Refused: if there are too many connections.
        """
        if len(self._places) >= self._max_connections:
            raise Refused(503, "The server has too many connections. Try again later.", headers={"Retry-After": "10"})
        place = Place()
        self._places.add(place)
        try:
            yield place
        finally:
            if place.task is None:
                self._places.discard(place)

    def start(self, place: Place, transport: Transport) -> asyncio.Task[bool]:
        """Serve the agent in a task, which takes the place. Its result is False if the agent failed."""
        place.task = asyncio.create_task(self._run(transport, place.identity), name="acp-connection")
        place.on_end = place.task.cancel
        place.task.add_done_callback(lambda _: self._places.discard(place))
        return place.task

    def give(self, place: Place, identity: Any) -> None:
        """Give a place to an identity.

        Raises:
            Refused: if it has too many connections.
        """
        place.identity = identity
        if identity is not None:
            count = sum(other.identity == identity for other in self._places)
            if count > max(1, self._max_connections // 2):
                raise Refused(503, "You have too many connections. Close one first.", headers={"Retry-After": "10"})

    async def close(self) -> None:
        """End all connections, and wait until their agents have ended. New ones are refused."""
        self._max_connections = 0
        for place in list(self._places):
            place.end()
        tasks = [place.task for place in self._places if place.task is not None]
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _run(self, transport: Transport, identity: Any) -> bool:
        try:
            await self._serve(transport, identity)
        except Exception as error:
            log(_logger, ERROR, "A connection has ended because its agent failed.", error=error)
            return False
        return True
