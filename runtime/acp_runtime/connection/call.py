"""A call of this side, from the sending of its request.

It is *pending* until its response is here or its caller has stopped waiting. Then the peer is told that it is
cancelled, and it is *abandoned*; its late response is recognised and dropped.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from acp_runtime.connection.in_flight import InFlight, InFlightNotification
from acp_runtime.stubs.methods import Request


@dataclass(slots=True, eq=False, repr=False)
class Call:
    """A request that was sent.

    Attributes:
        id: counts up from 0.
        wire: the method.
        method: None if the schema doesn't have it.
        params: its params.
        session: the session whose notifications are handled before the response.
        calling_message: the message whose handler makes the call, whichever connection received it.
        waiting_message: the same, if the connection of the call received it; it counts as waiting for the peer.
        future: resolves to the result.
        turn_cancelled: whether this side has sent the notification that cancels its turn.
        forgotten: for an abandoned call: done when its late response is here or no longer expected.
    """

    id: int
    wire: str
    method: Request[Any, Any] | None
    params: Any
    session: str | None
    calling_message: InFlight | None
    waiting_message: InFlight | None
    future: asyncio.Future[Any]
    turn_cancelled: bool = False
    forgotten: asyncio.Future[None] | None = None

    def resolve(self, result: Any, error: BaseException | None) -> None:
        """Give the result or the error to the caller, if it still waits."""
        if self.future.done():
            return
        if error is None:
            self.future.set_result(result)
        else:
            self.future.set_exception(error)

    @property
    def is_in_notification_handler(self) -> bool:
        """Whether the handler of a notification makes the call, and hasn't ended."""
        return isinstance(self.calling_message, InFlightNotification) and not self.calling_message.done
