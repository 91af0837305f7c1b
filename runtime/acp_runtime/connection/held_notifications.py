"""Notifications to a session that is being created leave right after the answer that names it (rule 17)."""

from __future__ import annotations

from logging import WARNING, getLogger

from acp_runtime.errors import GuardError
from acp_runtime.logs import log

_logger = getLogger(__name__)


class HeldNotifications:
    """What this side sends to sessions that its peer can't know yet.

    Args:
        limit: how many bytes may be held.

    Attributes:
        creating: how many requests are being answered whose result names a new session.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._seen: set[str] = set()
        self.creating: int = 0
        self._lines: dict[str, list[bytes]] = {}
        self._size = 0

    def seen(self, session: str) -> None:
        """The peer has used the id of a session."""
        self._seen.add(session)

    def forget(self, session: str) -> None:
        """A session has ended."""
        self._seen.discard(session)

    def begin(self) -> None:
        """A request is being answered whose result names a new session."""
        self.creating += 1

    def end(self, session: str | None) -> list[bytes]:
        """It was answered, with the id of a session or without one. Gives the lines that are to be sent now."""
        self.creating -= 1
        lines = self._take(session) if session is not None else []
        if session is not None:
            self._seen.add(session)
        if self.creating:
            return lines
        left = [line for each in list(self._lines) for line in self._take(each)]
        if session is None and left:
            log(_logger, WARNING, "Dropped %s notifications to a session that was not created", len(left))
            return lines
        return lines + left

    def holds(self, session: str | None) -> bool:
        """Whether a notification to a session has to be held."""
        return self.creating > 0 and session is not None and session not in self._seen

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
        self._lines.setdefault(session, []).append(line)
        self._size += len(line)

    def _take(self, session: str) -> list[bytes]:
        lines = self._lines.pop(session, [])
        self._size -= sum(map(len, lines))
        return lines
