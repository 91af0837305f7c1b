"""Requests of the peer that have no answer yet, found by id and by session.

Two of them may have the same id, and both are answered (rule 8).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from typing import Any, Generic, Protocol, TypeVar

from acp_runtime.messages import RequestId
from acp_runtime.methods import Request


class Unanswered(Protocol):
    """What is known of such a request, whether it runs or waits.

    Attributes:
        id: as it came.
        method: None for one that the schema doesn't know.
        session: the session that it belongs to, if any.
    """

    id: RequestId
    method: Request[Any, Any] | None
    session: str | None


K = TypeVar("K")
T = TypeVar("T", bound=Unanswered)


class Requests(Generic[T]):
    """Requests in the order they came. Each of these takes the same time, however many there are."""

    def __init__(self) -> None:
        self._all: OrderedDict[T, None] = OrderedDict()
        self._by_id: dict[RequestId, dict[T, None]] = {}
        self._by_session: dict[str, dict[T, None]] = {}

    def add(self, request: T) -> None:
        """A request has come."""
        self._all[request] = None
        self._by_id.setdefault(request.id, {})[request] = None
        if request.session is not None:
            self._by_session.setdefault(request.session, {})[request] = None

    def remove(self, request: T) -> None:
        """It is answered, or goes elsewhere."""
        del self._all[request]
        _remove(self._by_id, request.id, request)
        if request.session is not None:
            _remove(self._by_session, request.session, request)

    def with_id(self, id: RequestId) -> tuple[T, ...]:
        """Those with an id. `1` and `"1"` are different ids."""
        return tuple(self._by_id.get(id, ()))

    def of_turn(self, wire: str, session: str | None) -> tuple[T, ...]:
        """Those of a session that a notification cancels."""
        if session is None:
            return ()
        found = self._by_session.get(session, ())
        return tuple(each for each in found if is_cancelled_by(each.method, wire))

    @property
    def first(self) -> T:
        """The one that came first."""
        return next(iter(self._all))

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[T]:
        """All of them; they may be removed meanwhile."""
        return iter(tuple(self._all))


def is_cancelled_by(method: Request[Any, Any] | None, wire: str) -> bool:
    """Whether a notification cancels the requests of a method, by their session."""
    return method is not None and method.cancelled is not None and method.cancelled[0] == wire


def _remove(index: dict[K, dict[T, None]], key: K, request: T) -> None:
    found = index[key]
    del found[request]
    if not found:
        del index[key]
