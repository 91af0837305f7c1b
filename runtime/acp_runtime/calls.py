"""Calls that wait for their answer, by the ids this side gave them (rules 7, 8 and 19)."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from acp_runtime.errors import ConnectionClosed
from acp_runtime.flow import Activity
from acp_runtime.methods import Request

# How many calls that were given up are remembered, so that their late answers are no surprise.
_REMEMBERED = 10_000


@dataclass(slots=True)
class Call:
    """A request that was sent.

    Attributes:
        id: small integers counting up from 0.
        wire: the name of the method.
        method: None for one that the schema doesn't know.
        params: what it was called with.
        session: whose notifications come before the answer.
        future: the result.
        caller: the message whose handler made the call.
        announces: whether the result names a new session.
    """

    id: int
    wire: str
    method: Request[Any, Any] | None
    params: Any
    session: str | None
    future: asyncio.Future[Any]
    caller: Activity | None
    announces: bool

    def resolve(self, result: Any) -> None:
        """Give the caller its result, if it still waits."""
        if not self.future.done():
            self.future.set_result(result)

    def fail(self, error: BaseException) -> None:
        """Raise at the caller, if it still waits."""
        if not self.future.done():
            self.future.set_exception(error)


class Calls:
    """Every call of a connection that has no answer yet."""

    def __init__(self) -> None:
        self._next = 0
        self._waiting: dict[int, Call] = {}
        self._given_up: OrderedDict[int, None] = OrderedDict()

    @property
    def next_id(self) -> int:
        """The id that the next call gets."""
        return self._next

    def add(self, call: Call) -> None:
        """A call with the next id has been sent."""
        self._waiting[call.id] = call
        self._next += 1

    @property
    def waiting(self) -> bool:
        """Whether the peer owes an answer."""
        return bool(self._waiting)

    def answered(self, id: Any) -> Call | None:
        """The call that an id belongs to; its id is used up by this."""
        if type(id) is not int:
            return None
        return self._waiting.pop(id, None)

    def give_up(self, call: Call) -> bool:
        """Nobody waits for this call anymore. Whether it had no answer yet."""
        if self._waiting.pop(call.id, None) is None:
            return False
        self._given_up[call.id] = None
        if len(self._given_up) > _REMEMBERED:
            self._given_up.popitem(last=False)
        return True

    def was_given_up(self, id: Any) -> bool:
        """Whether this is the late answer to a call that was given up."""
        return type(id) is int and self._given_up.pop(id, False) is None

    def fail_all(self, error: ConnectionClosed) -> None:
        """No answer will come anymore."""
        waiting, self._waiting = self._waiting, {}
        for call in waiting.values():
            # One instance each: whoever raises it adds to its traceback.
            call.fail(type(error)(*error.args))
