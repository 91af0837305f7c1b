"""A call of this side, and its outcome."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, NamedTuple

from acp_runtime.connection.in_flight import InFlightMessage, InFlightNotification
from acp_runtime.errors import ConnectionClosed
from acp_runtime.stubs.methods import Request


@dataclass(slots=True)
class Call:
    """A request that was sent.

    Attributes:
        id: counts up from 0.
        wire: the method.
        method: None if the schema doesn't have it.
        params: its params.
        session: the session whose notifications are handled before the response.
        future: resolves to the result.
        caller: the message whose handler made the call.
        creates_session: whether the result names a new session.
        turn_cancelled: whether this side has sent the notification that cancels it.
    """

    id: int
    wire: str
    method: Request[Any, Any] | None
    params: Any
    session: str | None
    future: asyncio.Future[Any]
    caller: InFlightMessage | None
    creates_session: bool
    turn_cancelled: bool = False

    def fail(self, error: BaseException) -> None:
        """Raise an error in the caller, if it still waits."""
        if not self.future.done():
            self.future.set_exception(error)

    @property
    def is_inside_a_notification(self) -> bool:
        """Whether the handler of a notification made the call, and waits for it."""
        return isinstance(self.caller, InFlightNotification) and not self.caller.done


class Outcome(NamedTuple):
    """The result or the error of a call, for its caller."""

    call: Call
    result: Any = None
    error: BaseException | None = None

    def deliver(self) -> None:
        """Resolve the caller's future, if it still waits."""
        if self.error is not None:
            self.call.fail(self.error)
        elif not self.call.future.done():
            self.call.future.set_result(self.result)

    def updates_lost(self, error: ConnectionClosed) -> None:
        """Fail the call: notifications before the response were not handled."""
        self.call.fail(error)
