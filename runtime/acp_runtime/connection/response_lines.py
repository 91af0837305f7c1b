"""Turns the result or the exception of a handler into the line that answers its request (rules 10, 13, 21 and 26)."""

from __future__ import annotations

import asyncio
from functools import partial
from logging import ERROR, WARNING, getLogger
from typing import Any

from acp_runtime.connection.guards import Guards
from acp_runtime.connection.in_flight import InFlightRequest
from acp_runtime.connection.initialization import Initialization
from acp_runtime.connection.wrong_signatures import explain_wrong_signature
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
    """Makes the response lines of one side.

    Args:
        handler: returns the results.
        initialization: records the response that opens the connection.
        guards: depend on the initialization.
        disclose: whether the texts of exceptions are sent to the peer.
    """

    def __init__(self, handler: Handler, initialization: Initialization, guards: Guards, *, disclose: bool) -> None:
        self._handler = handler
        self._initialization = initialization
        self._guards = guards
        self._disclose = disclose
        self._log = ThrottledLogger(_logger)

    def result(self, request: InFlightRequest, params: Any, result: Any) -> bytes:
        """Return the line for a result.

        Raises:
            TypeError: if it has the wrong type.
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
                return self._opening_line(request.id, params, result)
        return result_line(request.id, result)

    def error(self, request: InFlightRequest, error: BaseException) -> bytes:
        """Return the line for an exception, and log it unless it is the handler's own `RequestError`."""
        is_own = isinstance(error, RequestError) and not isinstance(error, (RemoteError, RequestCancelled))
        if isinstance(error, ConnectionClosed):
            self._log.log(
                WARNING,
                "closed",
                "The handler of %s was stopped by the end of a connection: %s",
                request.wire,
                error.reason,
            )
        elif not is_own and not _is_end(error) and not request.answered:
            explain_wrong_signature(error)
            self._log.failed(request.wire, error)
        if request.turn_cancelled and not is_own:
            return cancelled_line(request.id, request.method)
        failed = partial(self._unsendable, request.wire, error)
        return safe_error_line(request.id, wire_error(error, disclose=self._disclose), failed)

    def _unsendable(self, method: str, error: BaseException, reason: Exception) -> None:
        """Log an error that can't be sent, such as one whose data is not JSON."""
        message = "The handler of %s raised an error that can't be sent: %s"
        self._log.log(ERROR, f"unsendable {method}", message, method, reason, error=error)

    def _opening_line(self, id: RequestId, params: Any, result: Any) -> bytes:
        """Return the line that opens the connection. The initialization is recorded only if the result is JSON."""
        result = self._initialization.own_result(result)
        line = result_line(id, result)
        self._initialization.record_exchange(self._handler, params, result)
        self._guards.capabilities_changed()
        return line


def cancelled_line(id: RequestId, method: Request[Any, Any] | None) -> bytes:
    """Return the line that answers a cancelled request: a result if the method has one for that, else an error."""
    if method is None or method.cancelled is None:
        return safe_error_line(id, RequestCancelled())
    return result_line(id, build_result(method, method.cancelled[1].encode()))


def _is_end(error: BaseException) -> bool:
    """Whether the handler was cancelled, or ended by Ctrl-C. A call of it that the peer cancelled doesn't count."""
    if isinstance(error, RemoteError):
        return False
    return isinstance(error, (asyncio.CancelledError, RequestCancelled, KeyboardInterrupt))
