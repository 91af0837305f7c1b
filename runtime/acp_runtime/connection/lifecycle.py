"""How a connection comes to its end: the peer closes its side, or this side stops the connection; then it is closed."""

from __future__ import annotations

import asyncio

from acp_runtime.errors import ConnectionClosed


class Lifecycle:
    """The end of one connection.

    Attributes:
        peer_left: done when no more lines come from the peer and all were passed on, with the reason. After that,
            nobody may read what this side sends.
        stopped: done when this side wants to end the connection, with the reason.
        closed: done when everything has ended, with the reason.
        is_hurried: whether the closing of the connection was cancelled, so that it hardly waits any longer.
    """

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self.peer_left: asyncio.Future[ConnectionClosed] = loop.create_future()
        self.stopped: asyncio.Future[ConnectionClosed] = loop.create_future()
        self.closed: asyncio.Future[ConnectionClosed] = loop.create_future()
        self.is_hurried: bool = False

    def stop(self, reason: str) -> None:
        """End the connection from this side. Does nothing if it was stopped before."""
        if not self.stopped.done():
            self.stopped.set_result(ConnectionClosed(reason))
