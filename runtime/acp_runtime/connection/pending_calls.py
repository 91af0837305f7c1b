"""Calls that wait for their response, by the ids this side gave them (rules 7, 8 and 19)."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from acp_runtime.connection.in_flight import InFlightMessage
from acp_runtime.errors import ConnectionClosed
from acp_runtime.stubs.methods import Request

# How many abandoned calls are remembered, so that their late responses are no surprise.
_REMEMBERED = 10_000


@dataclass(slots=True)
class Call:
    """A request that was sent.

    Attributes:
        id: small integers counting up from 0.
        wire: the name of the method.
        method: None for one that the schema doesn't know.
        params: what it was called with.
        session: whose notifications come before the response.
        future: the result.
        caller: the message whose handler made the call.
        creates_session: whether the result names a new session.
        turn_cancelled: this side has sent the notification that cancels it.
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
        """Raise at the caller, if it still waits."""
        if not self.future.done():
            self.future.set_exception(error)

    @property
    def is_inside_a_notification(self) -> bool:
        """Whether the handler of a notification made the call, and goes on only when it returns."""
        return self.caller is not None and self.caller.ordered and not self.caller.done


class Outcome(NamedTuple):
    """What a call is to give its caller: a result or an error."""

    call: Call
    result: Any = None
    error: BaseException | None = None

    def deliver(self) -> None:
        """Resolve the caller, if it still waits."""
        if self.error is not None:
            self.call.fail(self.error)
        elif not self.call.future.done():
            self.call.future.set_result(self.result)

    def updates_lost(self, error: ConnectionClosed) -> None:
        """Fail the caller: notifications before the response were not handled."""
        self.call.fail(error)


class PendingCalls:
    """Every call of a connection that has no response yet.

    Attributes:
        next_id: the id that the next call gets.
        by_id: the calls by their ids, oldest first.
    """

    def __init__(self) -> None:
        self.next_id: int = 0
        self.by_id: dict[int, Call] = {}
        self._abandoned: OrderedDict[int, None] = OrderedDict()

    def add(self, call: Call) -> None:
        """A call with the next id has been sent."""
        self.by_id[call.id] = call
        self.next_id += 1

    def __len__(self) -> int:
        """How many responses the peer owes."""
        return len(self.by_id)

    def __iter__(self) -> Iterator[Call]:
        """The calls, oldest first; they may be taken out meanwhile."""
        return iter(tuple(self.by_id.values()))

    def pop(self, id: Any) -> Call | None:
        """The call that an id belongs to; its id is used up by this."""
        if type(id) is not int:
            return None
        return self.by_id.pop(id, None)

    def abandon(self, call: Call) -> bool:
        """Nobody waits for this call anymore. Whether it had no response yet."""
        if self.by_id.pop(call.id, None) is None:
            return False
        self._abandoned[call.id] = None
        if len(self._abandoned) > _REMEMBERED:
            self._abandoned.popitem(last=False)
        return True

    def was_abandoned(self, id: Any) -> bool:
        """Whether this is the late response to a call that was abandoned."""
        return type(id) is int and self._abandoned.pop(id, False) is None
