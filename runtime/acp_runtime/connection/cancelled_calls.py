"""Cancels calls of this side: tells the peer, and delays calls that may not overtake a late response (rules 19, 21)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from acp_runtime.connection.backpressure import Backpressure
from acp_runtime.connection.calls import Call
from acp_runtime.connection.in_flight import session_of
from acp_runtime.connection.late_responses import LateResponses
from acp_runtime.connection.pending_calls import PendingCalls
from acp_runtime.connection.writer import Writer
from acp_runtime.jsonrpc.encoding import notification_line
from acp_runtime.models.names import wire_name
from acp_runtime.stubs.methods import Notification, Request
from acp_runtime.stubs.sides import Side


class CancelledCalls:
    """Cancels the calls of one side.

    Args:
        side: this side.
        pending: the calls without a response.
        late: the cancelled calls without a response.
        backpressure: counts handlers that wait for the peer.
        writer: sends notifications.
        answer_cancelled_turn: answers the peer's requests that belong to a turn, given the notification that cancels
            it and its session.

    Attributes:
        notifications: the methods of the peer that cancel requests of a session.
    """

    def __init__(
        self,
        side: Side[Any],
        pending: PendingCalls,
        late: LateResponses,
        backpressure: Backpressure,
        writer: Writer,
        answer_cancelled_turn: Callable[[str, str], None],
    ) -> None:
        proxy: Any = side.remote  # a subclass of `Remote`, with the tables of the peer's methods
        requests: list[Request[Any, Any]] = list(proxy.requests.values())
        notifications: list[Notification[Any]] = list(proxy.notifications.values())
        self._profile = side.profile
        self._pending = pending
        self._late = late
        self._backpressure = backpressure
        self._writer = writer
        self._answer_cancelled_turn = answer_cancelled_turn
        self._by_id = tuple(method for method in notifications if method.cancels is not None)
        cancelling = {method.cancelled[0] for method in requests if method.cancelled is not None}
        self.notifications: frozenset[str] = frozenset(cancelling & {method.wire for method in notifications})

    def abandon(self, call: Call) -> None:
        """Cancel a call whose caller has stopped waiting."""
        if self._pending.abandon(call):
            self.cancel(call)
            if self._is_turn(call.method) and call.session is not None:
                self._late.expect(call.id, call.session)

    def cancel(self, call: Call) -> None:
        """Tell the peer that a call is cancelled: first with the notification for its turn, which more agents know."""
        method = call.method
        if method is not None and method.cancelled is not None and self._is_turn(method) and call.session is not None:
            wire = method.cancelled[0]
            self._writer.send(notification_line(wire, {self._profile.session: call.session}))
            self.turn_cancelled(wire, call.session)
        for each in self._by_id:
            assert each.cancels is not None
            self._writer.send(notification_line(each.wire, {wire_name(each.cancels): call.id}))

    def cancel_turns(self) -> None:
        """Cancel all calls whose methods have a result for a cancelled call."""
        for call in self._pending:
            if call.method is not None and call.method.cancelled is not None:
                self.cancel(call)

    def turn_cancelled(self, wire: str, session: str | None) -> None:
        """Note that this side has cancelled the turns of a session, and answer the peer's requests in them."""
        if session is None:
            return
        for call in self._pending:
            if call.session == session and self._is_turn(call.method):
                call.turn_cancelled = True
        self._answer_cancelled_turn(wire, session)

    def is_turn_cancelled(self, method: Request[Any, Any], session: str | None) -> bool:
        """Return whether a request of the peer is cancelled with its turn, which this side has cancelled."""
        if session is None or method.cancelled is None or method.cancelled[0] not in self.notifications:
            return False
        return self._late.expects(session) or any(
            call.turn_cancelled and call.session == session for call in self._pending
        )

    async def wait_for_late_responses(self, method: Request[Any, Any], params: Any) -> None:
        """Wait for the late responses that a call must not overtake."""
        session = session_of(self._profile, params)
        if session is None or not self._is_turn(method):
            return
        waiting = self._backpressure.begin_wait()
        try:
            await self._late.wait(method.wire, session)
        finally:
            self._backpressure.end_wait(waiting)

    def _is_turn(self, method: Request[Any, Any] | None) -> bool:
        """Whether a call of this method is cancelled by a notification of this side."""
        return method is not None and method.cancelled is not None and method.cancelled[0] in self.notifications
