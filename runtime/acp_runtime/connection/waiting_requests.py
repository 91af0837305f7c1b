"""Requests that wait, unstarted, as the lines they came in, until there is room to handle them (rule 18)."""

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
        id: as it came.
        method: None for one that the schema doesn't know.
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
    """Those of a connection, in the order they came.

    Args:
        backpressure: says what may start, and is told of what waits.

    Attributes:
        in_order: those that wait, the oldest first.
        requests: the same, by id and session.
    """

    def __init__(self, backpressure: Backpressure) -> None:
        self._backpressure = backpressure
        self.in_order: OrderedDict[WaitingRequest, None] = OrderedDict()
        self.requests: RequestIndex[WaitingRequest] = RequestIndex()

    def add(self, request: WaitingRequest) -> None:
        """A request has to wait."""
        self._backpressure.add_waiting(len(request.line))
        self.in_order[request] = None
        self.requests.add(request)

    def remove(self, request: WaitingRequest) -> None:
        """It waits no longer."""
        del self.in_order[request]
        self.requests.remove(request)
        self._backpressure.remove_waiting(len(request.line))

    def take_startable(self) -> Iterator[WaitingRequest]:
        """Those that may start now, one after the other."""
        while self.in_order:
            request = next(iter(self.in_order))
            if not self._backpressure.may_start(len(request.line)):
                return
            self.remove(request)
            yield request
