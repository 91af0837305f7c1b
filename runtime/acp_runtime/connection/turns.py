"""The turns that this side runs at the peer, and what its notifications do to the peer's requests (rules 19 and 21).

If this side cancels a turn, the peer's requests that belong to it are answered as cancelled: those in flight at once,
others when they arrive. Turns that the peer runs and cancels are in `request.py`, but a notification of this side says
that the prompt of one was accepted.
"""

from __future__ import annotations

from typing import Any

from acp_runtime.connection.call import Call
from acp_runtime.connection.ids import Groups, RecentIds
from acp_runtime.connection.request import Requests
from acp_runtime.stubs.methods import Cancelled, Notification, Request
from acp_runtime.stubs.sides import Side


class Turns(Groups[Call]):
    """The calls that run a turn at the peer and have no response yet, by session.

    Args:
        side: this side.
        requests: the peer's requests.

    Attributes:
        cancelled_by: the methods of the peer that run a turn and return its result, each with the notification that
            cancels it.
        notifications: the notifications of this side that may affect the peer's requests.
        cancelled_sessions: the sessions whose newest turn this side has cancelled.
    """

    def __init__(self, side: Side[Any], requests: Requests) -> None:
        super().__init__()
        self._requests = requests
        proxy: Any = side.remote  # a subclass of `Remote`, with the tables of the peer's methods
        sent: dict[str, Notification[Any]] = proxy.notifications
        # The notifications that cancel requests of a session: those that run a turn at the peer, and requests of the
        # peer that belong to the turn.
        own = [method.cancelled for method in side.requests.values() if method.cancelled]
        peers: dict[str, Cancelled] = {
            method.wire: method.cancelled for method in proxy.requests.values() if method.cancelled
        }
        self._cancellations = sent.keys() & {cancelled.by for cancelled in (*own, *peers.values())}
        self.cancelled_by: dict[str, str] = {
            wire: cancelled.by for wire, cancelled in peers.items() if cancelled.result and cancelled.by in sent
        }
        # The notifications by which the peer's requests are accepted.
        self._accepting = {method.accepted.by: method.accepted for method in side.requests.values() if method.accepted}
        self.notifications: set[str] = self._cancellations | self._accepting.keys()
        self.cancelled_sessions: RecentIds = RecentIds()

    def affects_requests(self, wire: str, params: Any) -> bool:
        """Return whether one of `notifications` cancels requests of a session, or says that one was accepted."""
        accepted = self._accepting.get(wire)
        if accepted is None:
            return True
        return getattr(getattr(params, accepted.field, None), accepted.tag, None) in accepted.tags

    def record_sent(self, wire: str, session: str, params: Any) -> None:
        """Record a notification that was sent and affects the peer's requests."""
        if wire in self._cancellations:
            self.cancel(wire, session)
        else:
            self._requests.accept(session, getattr(params, self._accepting[wire].field))

    def cancel(self, wire: str, session: str) -> None:
        """Record that this side has cancelled the turns of a session, and answer the peer's requests in them."""
        for call in self.get(session, ()):
            call.turn_cancelled = True
            self.cancelled_sessions.add(session)
        self._requests.answer_cancelled_turn(wire, session)

    def is_cancelled(self, method: Request[Any, Any], session: str | None) -> bool:
        """Return whether a request of the peer is cancelled with its turn, which this side has cancelled."""
        if session is None or method.cancelled is None or method.cancelled.by not in self._cancellations:
            return False
        return any(call.turn_cancelled for call in self.get(session, ()))
