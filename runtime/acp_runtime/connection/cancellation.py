"""How requests of the peer are cancelled: by their id, with their turn, or as the connection ends (rules 20 to 22).

One that hasn't begun never does: its answer is ready. A turn that is cancelled both ways, as clients do, is cancelled
once: a second time would interrupt how its handler cleans up.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

from acp_runtime.connection.early_messages import EarlyMessages
from acp_runtime.connection.in_flight import InFlightRequest, session_of
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
        side: which side.
        handler: handles them.
        running: those whose handlers run.
        waiting: those that haven't started.
        early: those that wait for `initialize`.
        answers: makes their answers.
        writer: where answers go.
    """

    def __init__(
        self,
        side: Side[Any],
        handler: Handler,
        running: RequestIndex[InFlightRequest],
        waiting: WaitingRequests,
        early: EarlyMessages,
        answers: ResponseLines,
        writer: Writer,
    ) -> None:
        self._side = side
        self._profile = side.profile
        self._handler = handler
        self._running = running
        self._waiting = waiting
        self._early = early
        self._answers = answers
        self._writer = writer

    def on_arrival(self, method: Notification[Any]) -> Callable[[Any], None] | None:
        """What is done with a notification before it is its turn to be handled; None if nothing is."""
        if method.cancels is not None:
            return partial(self._cancel_request, method.cancels)
        if any(is_cancelled_by(request, method.wire) for request in self._side.requests.values()):
            return partial(self._cancel_turn, method.wire, self._side.overrides(self._handler, method))
        return None

    def default(self, method: AnyMethod, params: Any) -> None:
        """What the base class of handlers does with a notification: one that cancels turns cancels them."""
        for request in self._running.of_turn(method.wire, session_of(self._profile, params)):
            if request.turn_cancelled and not request.turn_stopped:
                self._stop_turn(request)

    def of_own_turn(self, wire: str, session: str) -> None:
        """This side sends a notification that cancels its turn: answer the requests that belong to it."""
        self._answer_waiting(wire, session)
        for request in self._running.of_turn(wire, session):
            if not request.answered:
                request.answered = True
                self._writer.answer(cancelled_line(request.id, request.method))
                _cancel(request)

    def all(self) -> None:
        """The connection ends."""
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
        """Only what is in flight when the notification arrives is meant by it, not what comes before it is handled."""
        session = session_of(self._profile, params)
        self._answer_waiting(wire, session)
        for request in self._running.of_turn(wire, session):
            request.turn_cancelled = True
            if not overridden or not request.started:
                self._stop_turn(request)

    def _stop_turn(self, request: InFlightRequest) -> None:
        """Cancel a request with its turn, unless its id was cancelled before.

        Clients send both for one turn, in either order. The second cancellation would end how the handler cleans up.
        """
        is_second = not request.turn_stopped and not request.cancel_awaited
        request.turn_stopped = True
        if not is_second:
            self._cancel_running(request)

    def _answer_waiting(self, wire: str, session: str | None) -> None:
        for waiting in self._waiting.requests.of_turn(wire, session):
            self._waiting.remove(waiting)
            self._writer.answer(cancelled_line(waiting.id, waiting.method))

    def _cancel_running(self, request: InFlightRequest) -> None:
        """A handler that has not begun never does: its answer is ready."""
        if not request.started and not request.answered and request.task is not None:
            request.answered = True
            self._writer.answer(self._answers.error(request, asyncio.CancelledError()))
        _cancel(request)


def _cancel(request: InFlightRequest) -> None:
    if request.task is not None:
        request.task.cancel()
