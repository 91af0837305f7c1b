"""Pending calls: the calls of this side by id, until their responses are here (rules 7, 8 and 19)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

from acp_runtime.connection.calls import Call

# The number of abandoned calls whose ids are remembered, to recognise their late responses.
_MAX_ABANDONED = 10_000


class PendingCalls:
    """The calls of a connection that have no response yet.

    Args:
        on_first: called when a call is added and no other is pending.

    Attributes:
        next_id: the id of the next call.
        by_id: the calls by their ids, oldest first.
    """

    def __init__(self, on_first: Callable[[], None]) -> None:
        self._on_first = on_first
        self.next_id: int = 0
        self.by_id: dict[int, Call] = {}
        self._abandoned: OrderedDict[int, None] = OrderedDict()

    def add(self, call: Call) -> None:
        """Add a call that was sent with the next id."""
        self.by_id[call.id] = call
        self.next_id += 1
        if len(self.by_id) == 1:
            self._on_first()

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
        """Whether a response with this id is the late one to an abandoned call. True once for each call."""
        return type(id) is int and self._abandoned.pop(id, False) is None
