"""What can go wrong with a history."""

from __future__ import annotations

from acp_runtime import ResourceNotFound


class HistoryError(Exception):
    """A history could not be read or written. The message says why; the cause is the database's error.

    If the connection to the database was lost, what was being written may have been written or not.
    """


class HistoryDamaged(HistoryError):
    """A history is damaged. Nothing was written to it."""


class HistoryTooNew(HistoryError):
    """A history was written by a newer version of this package. Nothing was written to it."""


class SessionExists(HistoryError):
    """A session can't be created because there is one with its id.

    Attributes:
        session_id: the id.
    """

    def __init__(self, session_id: str) -> None:
        super().__init__(f"The session {session_id!r} exists already")
        self.session_id = session_id


class UnknownSession(HistoryError, ResourceNotFound):
    """No session has the given id. If a handler lets it propagate, the request is answered with -32002.

    Attributes:
        session_id: the id.
    """

    def __init__(self, session_id: str) -> None:
        ResourceNotFound.__init__(self, f"There is no session {session_id!r}", {"sessionId": session_id})
        self.session_id = session_id
