"""Requests of the peer that have no answer yet, found by id and by session.

Two of them may have the same id, and both are answered (rule 8).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Generic, Protocol, TypeVar

from acp_runtime.jsonrpc.messages import RequestId
from acp_runtime.stubs.methods import Request


class IndexedRequest(Protocol):
    """What is known of such a request, whether it runs or waits.

    Attributes:
        id: as it came.
        method: None for one that the schema doesn't know.
        session: the session that it belongs to, if any.
    """

    id: RequestId
    method: Request[Any, Any] | None
    session: str | None


T = TypeVar("T", bound=IndexedRequest)


class RequestIndex(Generic[T]):
    """Requests in an index. Adding, finding and removing one takes the same time, however many there are.

    Attributes:
        by_id: the requests with each id; empty if there are none. `1` and `"1"` are different ids.
    """

    def __init__(self) -> None:
        self.by_id: dict[RequestId, dict[T, None]] = {}
        self._by_session: dict[str, dict[T, None]] = {}

    def add(self, request: T) -> None:
        """A request has come."""
        self.by_id.setdefault(request.id, {})[request] = None
        if request.session is not None:
            self._by_session.setdefault(request.session, {})[request] = None

    def remove(self, request: T) -> None:
        """It is answered, or goes elsewhere."""
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
        """Those with an id."""
        return tuple(self.by_id.get(id, ()))

    def of_turn(self, wire: str, session: str | None) -> tuple[T, ...]:
        """Those of a session that a notification cancels."""
        if session is None:
            return ()
        found = self._by_session.get(session, ())
        return tuple(each for each in found if is_cancelled_by(each.method, wire))

    def __iter__(self) -> Iterator[T]:
        """All of them; they may be removed meanwhile."""
        return iter([request for same_id in self.by_id.values() for request in same_id])


def is_cancelled_by(method: Request[Any, Any] | None, wire: str) -> bool:
    """Whether a notification cancels the requests of a method, by their session."""
    return method is not None and method.cancelled is not None and method.cancelled[0] == wire
