"""Cancels requests of the peer: by their id, with their turn, or because the connection ends (rules 20 to 22).

A request whose handler has not started is answered at once. Clients cancel a turn by id and by session; its handler is
cancelled once, because a second cancellation would interrupt its clean-up.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

from acp_runtime.connection.early_messages import EarlyMessages
from acp_runtime.connection.in_flight import InFlightNotification, InFlightRequest, current, session_of
from acp_runtime.connection.request_index import RequestIndex, is_cancelled_by
from acp_runtime.connection.response_lines import ResponseLines, cancelled_line
from acp_runtime.connection.waiting_requests import WaitingRequests
from acp_runtime.connection.writer import Writer
from acp_runtime.errors import RequestCancelled
from acp_runtime.jsonrpc.error_responses import safe_error_line
from acp_runtime.stubs.methods import AnyMethod, Notification
from acp_runtime.stubs.roles import Handler
from acp_runtime.stubs.sides import Side


class Cancellation:
    """Cancels the requests that one side handles.

    Args:
        side: the side.
        handler: handles its requests.
        running: the requests whose handlers run.
        waiting: the requests beyond the high-water mark.
        early: the messages that wait for `initialize`.
        lines: makes response lines.
        writer: sends responses.
    """

    def __init__(
        self,
        side: Side[Any],
        handler: Handler,
        running: RequestIndex[InFlightRequest],
        waiting: WaitingRequests,
        early: EarlyMessages,
        lines: ResponseLines,
        writer: Writer,
    ) -> None:
        self._side = side
        self._profile = side.profile
        self._handler = handler
        self._running = running
        self._waiting = waiting
        self._early = early
        self._lines = lines
        self._writer = writer

    def on_arrival(self, method: Notification[Any]) -> Callable[[Any], None] | None:
        """Return the function to call with the params of an arriving notification; None if it cancels nothing."""
        if method.cancels is not None:
            return partial(self._cancel_request, method.cancels)
        if any(is_cancelled_by(request, method.wire) for request in self._side.requests.values()):
            return partial(self._cancel_turn, method.wire, self._side.overrides(self._handler, method))
        return None

    def handle_by_default(self, method: AnyMethod, params: Any) -> None:
        """Do what the base class does for a notification: cancel the turns that it cancels.

        Called by the handler of that notification, it cancels those that were in flight when the notification arrived.
        Called by any other handler, it cancels those that are in flight now.
        """
        session, message = session_of(self._profile, params), current.get()
        has_arrived = isinstance(message, InFlightNotification) and message.wire == method.wire
        if not has_arrived:
            self._answer_waiting(method.wire, session)
        for request in self._running.of_turn(method.wire, session):
            request.turn_cancelled |= not has_arrived
            if request.turn_cancelled and not request.turn_stopped:
                self._stop_turn(request)

    def answer_cancelled_turn(self, wire: str, session: str) -> None:
        """Answer the peer's requests that belong to a turn which this side cancels with a notification."""
        self._answer_waiting(wire, session)
        for request in self._running.of_turn(wire, session):
            if not request.answered:
                request.answered = True
                self._writer.answer(cancelled_line(request.id, request.method))
                _cancel(request)

    def cancel_all(self) -> None:
        """Cancel all requests, because the connection ends."""
        for waiting in tuple(self._waiting.in_order):
            self._waiting.remove(waiting)
            self._writer.answer(cancelled_line(waiting.id, waiting.method))
        for id in self._early.take_ids():
            self._writer.answer(safe_error_line(id, RequestCancelled()))
        for running in self._running:
            running.turn_cancelled = running.method is not None and running.method.cancelled is not None
            if not running.closing:
                running.closing = True
                _cancel(running)

    def _cancel_request(self, field: str, params: Any) -> None:
        id = getattr(params, field)
        for waiting in self._waiting.requests.with_id(id):
            self._waiting.remove(waiting)
            self._writer.answer(safe_error_line(id, RequestCancelled()))
        for _ in range(self._early.cancel(id)):
            self._writer.answer(safe_error_line(id, RequestCancelled()))
        for request in self._running.with_id(id):
            is_second = request.turn_stopped and request.cancel_awaited
            request.cancel_awaited = False
            if not is_second:
                self._cancel_running(request)

    def _cancel_turn(self, wire: str, overridden: bool, params: Any) -> None:
        """Mark the requests that a notification cancels. Cancel them, unless an overridden handler decides that.

        Requests that arrive later, before that handler runs, are not cancelled.
        """
        session = session_of(self._profile, params)
        self._answer_waiting(wire, session)
        for request in self._running.of_turn(wire, session):
            request.turn_cancelled = True
            if not overridden or not request.started:
                self._stop_turn(request)

    def _stop_turn(self, request: InFlightRequest) -> None:
        """Cancel a request with its turn, unless it was cancelled by its id: clients send both, in either order."""
        is_second = not request.turn_stopped and not request.cancel_awaited
        request.turn_stopped = True
        if not is_second:
            self._cancel_running(request)

    def _answer_waiting(self, wire: str, session: str | None) -> None:
        for waiting in self._waiting.requests.of_turn(wire, session):
            self._waiting.remove(waiting)
            self._writer.answer(cancelled_line(waiting.id, waiting.method))

    def _cancel_running(self, request: InFlightRequest) -> None:
        """Cancel a handler. If it has not begun, answer its request at once."""
        if not request.started and not request.answered and request.task is not None:
            request.answered = True
            self._writer.answer(self._lines.error(request, asyncio.CancelledError()))
        _cancel(request)


def _cancel(request: InFlightRequest) -> None:
    if request.task is not None:
        request.task.cancel()
