"""What methods open, create and end, whichever side calls them: the tables of methods say it (rules 16, 17, 25, 27)."""

from __future__ import annotations

from typing import Any

from acp_runtime.connection.both_sides import BothSides
from acp_runtime.connection.guards import Guards
from acp_runtime.connection.held import HeldLines
from acp_runtime.connection.in_flight import InFlight
from acp_runtime.connection.session import Sessions
from acp_runtime.stubs.methods import Request

Method = Request[Any, Any]

# Stands for the result of a call or a handler that has failed.
FAILED = object()


class Effects:
    """Tells the parts of a connection what a call or its result changes.

    Args:
        sides: are told what opens the connection.
        guards: are told what the peer has created.
        sessions, held: are told which sessions are used, created and ended.
    """

    def __init__(self, sides: BothSides, guards: Guards, sessions: Sessions, held: HeldLines) -> None:
        self._attribute = sides.profile.session_attribute
        self._sides = sides
        self._guards = guards
        self._sessions = sessions
        self._held = held

    # Calls of this side.

    def succeeded(self, method: Method, params: Any, session: str | None, result: Any) -> None:
        """Note that a call has a result."""
        if method.opens:
            self._sides.record_peer(result)
        self._guards.record_result(method, params, result)
        self._end(method, session)

    def returned(self, result: Any) -> None:
        """Note that a call that creates a session returns its result, or FAILED."""
        self._sessions.end_creation(self._created(result))

    # Requests of the peer.

    def received(self, method: Method | None, session: str | None, request: InFlight) -> None:
        """Note that a request of the peer was received."""
        if session is not None:
            self._held.known_by_peer(session)
        if method is not None and method.creates_session:
            self._held.creating_requests.add(request)

    def opened(self, request: InFlight, result: Any) -> None:
        """Note that a request that opens the connection is answered with this result."""
        self._sides.record_peer(request.argument)
        self._sides.advertise(result)

    def answered(self, method: Method, session: str | None, request: InFlight, result: Any) -> None:
        """Note that a request of the peer was answered with a result, or FAILED."""
        if method.creates_session:
            self._held.end_creation(request, self._created(result))
        if result is not FAILED:
            self._end(method, session)

    def _end(self, method: Method, session: str | None) -> None:
        if session is not None and method.ends == self._attribute:
            self._sessions.used.discard(session)
            self._held.known.discard(session)

    def _created(self, result: Any) -> str | None:
        return None if result is FAILED else str(getattr(result, self._attribute))
