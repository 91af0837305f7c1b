"""Holds notifications to a session that is being created until the response that names it has left (rule 17).

Notifications from the handler of a creating request wait for its response. Those from elsewhere, such as independent
tasks, wait until their session is named or all creations have ended.
"""

from __future__ import annotations

from collections.abc import Callable
from logging import WARNING, getLogger
from typing import NamedTuple

from acp_runtime.connection.in_flight import InFlightMessage, current_message
from acp_runtime.errors import GuardError
from acp_runtime.logs import ThrottledLogger

_logger = getLogger(__name__)


class _Held(NamedTuple):
    """A line for a session, and the creating request whose handler sent it, if one did."""

    session: str
    sender: InFlightMessage | None
    line: bytes


class HeldNotifications:
    """The held notifications of one side.

    Args:
        limit: how many bytes may be held.

    Attributes:
        known_sessions: the sessions whose ids the peer has used or received.
        creating: the requests in flight whose results name new sessions.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self.known_sessions: set[str] = set()
        self.creating: set[InFlightMessage] = set()
        self._held: list[_Held] = []
        self._size = 0
        self._log = ThrottledLogger(_logger)

    def session_known(self, session: str) -> list[bytes]:
        """Note that the peer has used the id of a session. Return the lines to be sent now."""
        self.known_sessions.add(session)
        return [held.line for held in self._take(lambda held: held.session == session)]

    def session_ended(self, session: str) -> None:
        """Forget a session that has ended."""
        self.known_sessions.discard(session)

    def begin_creation(self, creation: InFlightMessage) -> None:
        """Note that the handler of a request that creates a session starts."""
        self.creating.add(creation)

    def end_creation(self, creation: InFlightMessage, session: str | None) -> list[bytes]:
        """Note that it was answered, with the id of a session or without one. Return the lines to be sent now."""
        self.creating.discard(creation)
        if session is None:
            self._log_dropped(self._take(lambda held: held.sender is creation or not self.creating))
            return []
        self.known_sessions.add(session)
        released = self._take(
            lambda held: held.session in self.known_sessions or held.sender is creation or not self.creating
        )
        return [held.line for held in released]

    def holds(self, session: str | None) -> bool:
        """Whether a notification to a session has to be held."""
        return bool(self.creating) and session is not None and session not in self.known_sessions

    def hold(self, session: str, line: bytes) -> None:
        """Hold a line.

        Raises:
            GuardError: if more than the limit would be held.
        """
        if self._size + len(line) > self._limit:
            raise GuardError(
                f"Notifications to session {session!r} are held until the response that creates it is sent, and they "
                f"exceed {self._limit} bytes (Options.max_held_bytes). Return from the handler, then send them."
            )
        sender = current_message()
        self._held.append(_Held(session, sender if sender in self.creating else None, line))
        self._size += len(line)

    def _take(self, may_leave: Callable[[_Held], bool]) -> list[_Held]:
        """Remove the lines that may be sent, and return them in order."""
        taken = [held for held in self._held if may_leave(held)]
        if taken:
            self._held = [held for held in self._held if not may_leave(held)]
            self._size -= sum(len(held.line) for held in taken)
        return taken

    def _log_dropped(self, dropped: list[_Held]) -> None:
        if dropped:
            message = "Dropped %s notifications to a session that was not created"
            self._log.log(WARNING, "dropped", message, len(dropped))
