"""Calls of this side that are cancelled: what the peer is told, and what its late answers hold up (rules 19 and 21)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from acp_runtime.connection.backpressure import Backpressure
from acp_runtime.connection.in_flight import session_of
from acp_runtime.connection.late_responses import LateResponses
from acp_runtime.connection.pending_calls import Call, PendingCalls
from acp_runtime.connection.writer import Writer
from acp_runtime.jsonrpc.encoding import notification_line
from acp_runtime.models.names import wire_name
from acp_runtime.stubs.methods import Notification, Profile, Request


class CancelledCalls:
    """Cancels calls of one side.

    Args:
        profile: the version of the protocol.
        pending: the calls that have no response yet.
        late: the calls that were cancelled and have none.
        backpressure: is told who waits for the peer.
        writer: where lines go.
        answer_own_turn: answers the requests of the peer's that belong to a turn, by the notification that cancels it
            and its session.

    Attributes:
        notifications: those of the peer's that cancel requests of a session.
    """

    def __init__(
        self,
        profile: Profile,
        pending: PendingCalls,
        late: LateResponses,
        backpressure: Backpressure,
        writer: Writer,
        answer_own_turn: Callable[[str, str], None],
    ) -> None:
        self._profile = profile
        self._pending = pending
        self._late = late
        self._backpressure = backpressure
        self._writer = writer
        self._answer_own_turn = answer_own_turn
        self._by_id: tuple[Notification[Any], ...] = ()
        self.notifications: frozenset[str] = frozenset()

    def knows(self, requests: Mapping[str, Request[Any, Any]], notifications: Mapping[str, Notification[Any]]) -> None:
        """What the peer handles."""
        self._by_id = tuple(method for method in notifications.values() if method.cancels is not None)
        cancelling = (method.cancelled[0] for method in requests.values() if method.cancelled is not None)
        self.notifications = frozenset(cancelling).intersection(notifications)

    def abandon(self, call: Call) -> None:
        """Nobody waits for a call anymore."""
        if self._pending.abandon(call):
            self.cancel(call)
            if self._is_turn(call.method) and call.session is not None:
                self._late.expect(call.id, call.session)

    def cancel(self, call: Call) -> None:
        """Tell the peer that a call is cancelled: what cancels its turn first, which more agents know."""
        method = call.method
        if method is not None and method.cancelled is not None and self._is_turn(method) and call.session is not None:
            wire = method.cancelled[0]
            self._writer.send(notification_line(wire, {self._profile.session: call.session}))
            self.turn_cancelled(wire, call.session)
        for each in self._by_id:
            assert each.cancels is not None
            self._writer.send(notification_line(each.wire, {wire_name(each.cancels): call.id}))

    def cancel_turns(self) -> None:
        """Tell the peer that all calls are cancelled which have an answer for that."""
        for call in self._pending:
            if call.method is not None and call.method.cancelled is not None:
                self.cancel(call)

    def turn_cancelled(self, wire: str, session: str | None) -> None:
        """This side has sent what cancels the turns of a session: what the peer asks in them is answered (rule 21)."""
        if session is None:
            return
        for call in self._pending:
            if call.session == session and self._is_turn(call.method):
                call.turn_cancelled = True
        self._answer_own_turn(wire, session)

    def is_turn_cancelled(self, method: Request[Any, Any], session: str | None) -> bool:
        """Whether a request of the peer's belongs to a turn that this side has cancelled, and is cancelled with it."""
        if session is None or method.cancelled is None or method.cancelled[0] not in self.notifications:
            return False
        return self._late.expects(session) or any(
            call.turn_cancelled and call.session == session for call in self._pending
        )

    async def wait_for_late_responses(self, method: Request[Any, Any], params: Any) -> None:
        """Wait for the late answers that a call may not overtake."""
        session = session_of(self._profile, params)
        if session is None or not self._is_turn(method):
            return
        waiting = self._backpressure.begin_wait()
        try:
            await self._late.wait(method.wire, session)
        finally:
            self._backpressure.end_wait(waiting)

    def _is_turn(self, method: Request[Any, Any] | None) -> bool:
        """Whether a request of this side is cancelled by a notification of this side."""
        return method is not None and method.cancelled is not None and method.cancelled[0] in self.notifications
