"""What a handler returned or raised, as the line that answers its request (rules 10, 13, 21 and 26)."""

from __future__ import annotations

import asyncio
from logging import WARNING, getLogger
from typing import Any

from acp_runtime.connection.guards import Guards
from acp_runtime.connection.in_flight import InFlightRequest
from acp_runtime.connection.initialization import Initialization
from acp_runtime.errors import ConnectionClosed, RemoteError, RequestCancelled, RequestError
from acp_runtime.jsonrpc.encoding import result_line
from acp_runtime.jsonrpc.error_responses import safe_error_line, wire_error
from acp_runtime.jsonrpc.messages import RequestId
from acp_runtime.jsonrpc.results import as_declared, build_result, can_be_empty, is_result
from acp_runtime.logs import ThrottledLogger
from acp_runtime.stubs.methods import Request
from acp_runtime.stubs.roles import Handler

_logger = getLogger(__name__)


class ResponseLines:
    """Makes the answers of one side.

    Args:
        handler: whose they are.
        initialization: takes note of the answer that opens the connection.
        guards: likewise.
        disclose: whether the texts of exceptions may go to the peer.
    """

    def __init__(self, handler: Handler, initialization: Initialization, guards: Guards, *, disclose: bool) -> None:
        self._handler = handler
        self._initialization = initialization
        self._guards = guards
        self._disclose = disclose
        self._log = ThrottledLogger(_logger)

    def result(self, request: InFlightRequest, params: Any, result: Any) -> bytes:
        """The answer to a request whose handler returned something.

        Raises:
            TypeError: if that is not a result of the method.
            PydanticSerializationError: if it is not JSON.
        """
        method = request.method
        if method is not None:
            if result is None and can_be_empty(method):
                result = build_result(method, b"{}")
            if not is_result(method, result):
                raise TypeError(f"The handler of {method.wire} returned {type(result).__name__}, not {method.result}.")
            result = as_declared(method, result)
            if method.opens:
                return self._initialized(request.id, params, result)
        return result_line(request.id, result)

    def error(self, request: InFlightRequest, error: BaseException) -> bytes:
        """The answer to a request whose handler raised something."""
        is_own = isinstance(error, RequestError) and not isinstance(error, (RemoteError, RequestCancelled))
        if isinstance(error, ConnectionClosed):
            self._log.log(WARNING, "closed", "The handler of %s was ended: %s", request.wire, error.reason)
        elif not is_own and not _is_cancellation(error) and not request.answered:
            self._log.failed(request.wire, error)
        if request.turn_cancelled and not is_own:
            return cancelled_line(request.id, request.method)
        return safe_error_line(request.id, wire_error(error, disclose=self._disclose))

    def _initialized(self, id: RequestId, params: Any, result: Any) -> bytes:
        """The answer that opens the connection. It does if it can be sent."""
        result = self._initialization.own_result(result)
        line = result_line(id, result)
        self._initialization.record_request(self._handler, params, result)
        self._guards.capabilities_changed()
        return line


def cancelled_line(id: RequestId, method: Request[Any, Any] | None) -> bytes:
    """The answer to a request whose turn was cancelled: a result where the method has one for that."""
    if method is None or method.cancelled is None:
        return safe_error_line(id, RequestCancelled())
    return result_line(id, build_result(method, method.cancelled[1].encode()))


def _is_cancellation(error: BaseException) -> bool:
    """Whether a handler was cancelled, not a call of its own by the peer."""
    if isinstance(error, RemoteError):
        return False
    return isinstance(error, (asyncio.CancelledError, RequestCancelled))
