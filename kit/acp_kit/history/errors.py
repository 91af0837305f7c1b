"""The errors of histories."""

from __future__ import annotations

from acp_runtime import ResourceNotFound


class HistoryError(Exception):
    """A history could not be read or written. The message says why; the cause is the database's error.

    If the connection to the database was lost during a change, the change may have been made or not.
    """


class HistoryDamaged(HistoryError):
    """A history is damaged. Nothing was written to it."""


class HistoryTooNew(HistoryError):
    """A newer version of this package has written a history. Nothing was written to it."""


class SessionExists(HistoryError):
    """A session can't be created because its id is taken.

    Attributes:
        session_id: the id.
    """

    def __init__(self, session_id: str) -> None:
        super().__init__(f"The session {session_id!r} exists already")
        self.session_id = session_id


class UnknownSession(HistoryError, ResourceNotFound):
    """No session has the given id. If a handler raises this, the request is answered with -32002.

    Attributes:
        session_id: the id.
    """

    def __init__(self, session_id: str) -> None:
        ResourceNotFound.__init__(self, f"There is no session {session_id!r}", {"sessionId": session_id})
        self.session_id = session_id
