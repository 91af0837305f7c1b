"""Notifications to a session that is being created leave right after the answer that names it (rule 17).

What the handler of a creating request sends waits for that request. What others send, such as tasks that have nothing
to do with a request, waits for the session to be named, or for all creations to end.
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
    """A line that waits, and the creating request whose handler sent it, if it was one."""

    session: str
    sender: InFlightMessage | None
    line: bytes


class HeldNotifications:
    """What this side sends to sessions that its peer can't know yet.

    Args:
        limit: how many bytes may be held.

    Attributes:
        known_sessions: the sessions whose ids the peer has used or was told.
        creating: the requests that are being answered whose result names a new session.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self.known_sessions: set[str] = set()
        self.creating: set[InFlightMessage] = set()
        self._held: list[_Held] = []
        self._size = 0
        self._log = ThrottledLogger(_logger)

    def session_known(self, session: str) -> list[bytes]:
        """The peer has used the id of a session. Gives the lines that are to be sent now."""
        self.known_sessions.add(session)
        return [held.line for held in self._take(lambda held: held.session == session)]

    def session_ended(self, session: str) -> None:
        """A session has ended."""
        self.known_sessions.discard(session)

    def begin_creation(self, creation: InFlightMessage) -> None:
        """A request is being answered whose result names a new session."""
        self.creating.add(creation)

    def end_creation(self, creation: InFlightMessage, session: str | None) -> list[bytes]:
        """It was answered, with the id of a session or without one. Gives the lines that are to be sent now."""
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
            GuardError: if that were too much.
        """
        if self._size + len(line) > self._limit:
            raise GuardError(
                f"Notifications to session {session!r} are held until the answer that creates it is sent, and they "
                f"are more than {self._limit} bytes (Options.max_held_bytes). Answer first, then send them."
            )
        sender = current_message()
        self._held.append(_Held(session, sender if sender in self.creating else None, line))
        self._size += len(line)

    def _take(self, goes: Callable[[_Held], bool]) -> list[_Held]:
        """The lines that wait no longer, in order."""
        taken = [held for held in self._held if goes(held)]
        if taken:
            self._held = [held for held in self._held if not goes(held)]
            self._size -= sum(len(held.line) for held in taken)
        return taken

    def _log_dropped(self, dropped: list[_Held]) -> None:
        if dropped:
            message = "Dropped %s notifications to a session that was not created"
            self._log.log(WARNING, "dropped", message, len(dropped))
