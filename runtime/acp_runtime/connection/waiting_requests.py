"""Requests beyond the high-water mark, which wait, unstarted, as lines (rule 18)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

from acp_runtime.connection.backpressure import Backpressure
from acp_runtime.connection.request_index import RequestIndex
from acp_runtime.jsonrpc.messages import RequestId
from acp_runtime.stubs.methods import Request


class WaitingRequest:
    """A request that waits.

    Attributes:
        id: as it was received.
        method: None if the schema doesn't have it.
        session: the session that it belongs to, if any.
        line: the whole message.
    """

    __slots__ = ("id", "line", "method", "session")

    def __init__(self, id: RequestId, method: Request[Any, Any] | None, session: str | None, line: bytes) -> None:
        self.id: RequestId = id
        self.method: Request[Any, Any] | None = method
        self.session: str | None = session
        self.line: bytes = line


class WaitingRequests:
    """The waiting requests of a connection, in order of arrival.

    Args:
        backpressure: counts them, and decides which may start.

    Attributes:
        in_order: the requests, oldest first.
        requests: the same, by id and session.
    """

    def __init__(self, backpressure: Backpressure) -> None:
        self._backpressure = backpressure
        self.in_order: OrderedDict[WaitingRequest, None] = OrderedDict()
        self.requests: RequestIndex[WaitingRequest] = RequestIndex()

    def add(self, request: WaitingRequest) -> None:
        """Add a request."""
        self._backpressure.add_waiting(len(request.line))
        self.in_order[request] = None
        self.requests.add(request)

    def remove(self, request: WaitingRequest) -> None:
        """Remove a request."""
        del self.in_order[request]
        self.requests.remove(request)
        self._backpressure.remove_waiting(len(request.line))

    def take_startable(self) -> Iterator[WaitingRequest]:
        """Remove and yield the requests that may start now, oldest first."""
        while self.in_order:
            request = next(iter(self.in_order))
            if not self._backpressure.may_start(len(request.line)):
                return
            self.remove(request)
            yield request
