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
class Slot:
    """A slot for a connection, from its first request on.

    Attributes:
        end: ends the connection.
        identity: who has it; None if there is no `authenticate`.
        task: serves the agent, once the connection is open.
    """

    end: Callable[[], object] = lambda: None
    identity: Any = None
    task: asyncio.Task[bool] | None = None


class Connections:
    """Serves an agent to each connection, and ends all of them when the server shuts down.

    Args:
        serve: serves the agent over a transport, for an identity, until the connection ends.
        max_connections: how many connections there may be. One identity may have half of them.
    """

    def __init__(self, serve: Callable[[Transport, Any], Awaitable[None]], max_connections: int) -> None:
        self._serve = serve
        self._max_connections = max_connections
        self._slots = set[Slot]()

    @contextmanager
    def slot(self) -> Generator[Slot]:
        """Yield a slot for a connection. The end of the block frees it, unless `start` was called.

        Raises:
            Refused: if there are too many connections.
        """
        if len(self._slots) >= self._max_connections:
            raise Refused(503, "The server has too many connections. Try again later.", headers={"Retry-After": "10"})
        slot = Slot()
        self._slots.add(slot)
        try:
            yield slot
        finally:
            if slot.task is None:
                self._slots.discard(slot)

    def start(self, slot: Slot, transport: Transport) -> asyncio.Task[bool]:
        """Serve the agent in a task, whose end frees the slot. Its result is False if the agent failed."""
        slot.task = asyncio.create_task(self._run(transport, slot.identity), name="acp-connection")
        slot.end = slot.task.cancel
        slot.task.add_done_callback(lambda _: self._slots.discard(slot))
        return slot.task

    def assign(self, slot: Slot, identity: Any) -> None:
        """Note whose connection a slot is for.

        Raises:
            Refused: if it has too many connections.
        """
        slot.identity = identity
        if identity is not None:
            count = sum(other.identity == identity for other in self._slots)
            if count > max(1, self._max_connections // 2):
                raise Refused(503, "You have too many connections. Close one first.", headers={"Retry-After": "10"})

    async def close(self) -> None:
        """End all connections, and wait until their agents have ended. New ones are refused."""
        self._max_connections = 0
        for slot in list(self._slots):
            slot.end()
        tasks = [slot.task for slot in self._slots if slot.task is not None]
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _run(self, transport: Transport, identity: Any) -> bool:
        try:
            await self._serve(transport, identity)
        except Exception as error:
            log(_logger, ERROR, "A connection has ended because its agent failed.", error=error)
            return False
        return True
