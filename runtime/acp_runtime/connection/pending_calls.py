"""Pending calls: the requests that this side sent, by id, until their responses are here (rules 7, 8 and 19)."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from acp_runtime.connection.in_flight import InFlightMessage, InFlightNotification
from acp_runtime.errors import ConnectionClosed
from acp_runtime.stubs.methods import Request

# The number of abandoned calls whose ids are remembered, to recognise their late responses.
_MAX_ABANDONED = 10_000


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


class PendingCalls:
    """The calls of a connection that have no response yet.

    Attributes:
        next_id: the id of the next call.
        by_id: the calls by their ids, oldest first.
    """

    def __init__(self) -> None:
        self.next_id: int = 0
        self.by_id: dict[int, Call] = {}
        self._abandoned: OrderedDict[int, None] = OrderedDict()

    def add(self, call: Call) -> None:
        """Add a call that was sent with the next id."""
        self.by_id[call.id] = call
        self.next_id += 1

    def __len__(self) -> int:
        """The number of calls."""
        return len(self.by_id)

    def __iter__(self) -> Iterator[Call]:
        """Iterate over a copy, oldest first, so that calls may be removed meanwhile."""
        return iter(tuple(self.by_id.values()))

    def pop(self, id: Any) -> Call | None:
        """Remove the call with an id and return it; None if there is none."""
        if type(id) is not int:
            return None
        return self.by_id.pop(id, None)

    def abandon(self, call: Call) -> bool:
        """Remove a call whose caller has stopped waiting. Return False if it had a response already."""
        if self.by_id.pop(call.id, None) is None:
            return False
        self._abandoned[call.id] = None
        if len(self._abandoned) > _MAX_ABANDONED:
            self._abandoned.popitem(last=False)
        return True

    def was_abandoned(self, id: Any) -> bool:
        """Whether an id is that of an abandoned call, whose late response this is. True once for each."""
        return type(id) is int and self._abandoned.pop(id, False) is None
