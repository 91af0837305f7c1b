"""An index of the peer's unanswered requests, by id and by session.

Two of them may have the same id, and both are answered (rule 8).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Generic, Protocol, TypeVar

from acp_runtime.jsonrpc.messages import RequestId
from acp_runtime.stubs.methods import Request


class IndexedRequest(Protocol):
    """A request, running or waiting.

    Attributes:
        id: as it was received.
        method: None if the schema doesn't have it.
        session: the session that it belongs to, if any.
    """

    id: RequestId
    method: Request[Any, Any] | None
    session: str | None


T = TypeVar("T", bound=IndexedRequest)


class RequestIndex(Generic[T]):
    """Requests by id and by session. Adding, finding and removing take constant time.

    Attributes:
        by_id: the requests with each id; empty if there are none. `1` and `"1"` are different ids.
    """

    def __init__(self) -> None:
        self.by_id: dict[RequestId, dict[T, None]] = {}
        self._by_session: dict[str, dict[T, None]] = {}

    def add(self, request: T) -> None:
        """Add a request."""
        self.by_id.setdefault(request.id, {})[request] = None
        if request.session is not None:
            self._by_session.setdefault(request.session, {})[request] = None

    def remove(self, request: T) -> None:
        """Remove a request."""
        same_id = self.by_id[request.id]
        del same_id[request]
        if not same_id:
            del self.by_id[request.id]
        if request.session is not None:
            same_session = self._by_session[request.session]
            del same_session[request]
            if not same_session:
                del self._by_session[request.session]

    def with_id(self, id: RequestId) -> tuple[T, ...]:
        """Return the requests with an id."""
        return tuple(self.by_id.get(id, ()))

    def of_turn(self, wire: str, session: str | None) -> tuple[T, ...]:
        """Return the requests of a session that a notification cancels."""
        if session is None:
            return ()
        found = self._by_session.get(session, ())
        return tuple(each for each in found if is_cancelled_by(each.method, wire))

    def __iter__(self) -> Iterator[T]:
        """Iterate over a copy, so that requests may be removed meanwhile."""
        return iter([request for same_id in self.by_id.values() for request in same_id])


def is_cancelled_by(method: Request[Any, Any] | None, wire: str) -> bool:
    """Whether a notification cancels the requests of a method in its session."""
    return method is not None and method.cancelled is not None and method.cancelled[0] == wire
