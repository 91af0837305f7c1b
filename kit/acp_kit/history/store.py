"""The interface of all stores of histories."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from acp_bindings.v1 import ListSessionsResponse, SessionInfo, SessionUpdate


@runtime_checkable
class HistoryStore(Protocol):
    """The histories of an agent's sessions.

    Reading a session yields fewer updates than were appended, with the same result: the chunks of a message are merged,
    each tool call is one update with its final state, and the last plan, mode and other settings come at the end.
    Notices are not stored, because they aren't part of a session's history.
    """

    async def create(self, session_id: str, *, cwd: str, additional_directories: Sequence[str] = ()) -> None:
        """Create a session.

        Args:
            session_id: its id.
            cwd: its working directory, an absolute path.
            additional_directories: its additional directories, absolute paths.

        Raises:
            SessionExists: if there is a session with this id.
            ValueError: if the id has a lone surrogate or U+0000, which no database can store.
        """
        ...

    async def append(self, session_id: str, *updates: SessionUpdate) -> None:
        """Append updates to a session: all of them, or none if this raises.

        Once this returns, the updates are in the history. In a database, they stay there even if the process is killed.
        If the connection to a database server is lost meanwhile, this raises, but they may have been appended.

        Raises:
            UnknownSession: if there is no such session.
            PydanticSerializationError: if one can't be sent, because it has NaN, Infinity or an object that isn't JSON.
            OversizedMessage: if one is larger than `Options.max_message_bytes` is by default.
        """
        ...

    def read(self, session_id: str) -> AsyncGenerator[SessionUpdate, None]:
        """Read the updates of a session, in the order of their first appearance, a few at a time.

        Updates that are appended meanwhile are not read, unless they change an earlier one.

        Raises:
            UnknownSession: if there is no such session.
        """
        ...

    async def info(self, session_id: str) -> SessionInfo:
        """Return a session's directories, its title and the time of its last change.

        Raises:
            UnknownSession: if there is no such session.
        """
        ...

    async def list(self, *, cwd: str | None = None, cursor: str | None = None, limit: int = 50) -> ListSessionsResponse:
        """List sessions, the last changed first. The result can be the response to `session/list`.

        Args:
            cwd: only sessions with this working directory.
            cursor: the `next_cursor` of the previous part.
            limit: the largest number of sessions to return, at least 1.

        Raises:
            TypeError: if the limit is not an int.
            ValueError: if it is less than 1.
            InvalidParams: if the cursor is not one of this store.
        """
        ...

    async def rename(self, session_id: str, title: str | None) -> None:
        """Change the title of a session in the history. None removes it.

        The client isn't notified. For an open session, call `Session.send` with a `SessionUpdateSessionInfoUpdate`,
        which does both.

        Raises:
            UnknownSession: if there is no such session.
        """
        from acp_bindings.v1 import SessionUpdateSessionInfoUpdate

        await self.append(session_id, SessionUpdateSessionInfoUpdate(title=title))

    async def set_directories(self, session_id: str, additional_directories: Sequence[str]) -> None:
        """Replace the additional directories of a session with those of the request that loads or resumes it.

        They are what `info` and `list` report.

        Raises:
            UnknownSession: if there is no such session.
        """
        ...

    async def delete(self, session_id: str) -> None:
        """Delete a session with its history. Does nothing if there is no such session."""
        ...

    async def fork(
        self,
        session_id: str,
        new_session_id: str,
        *,
        cwd: str | None = None,
        additional_directories: Sequence[str] = (),
    ) -> None:
        """Copy a session with its history so far.

        Args:
            session_id: the session to copy.
            new_session_id: the id of the copy.
            cwd: the working directory of the copy, if it differs.
            additional_directories: the additional directories of the copy, which doesn't inherit those of the session.

        Raises:
            UnknownSession: if there is no session to copy.
            SessionExists: if there is a session with the new id.
            ValueError: if no database can store the new id.
        """
        ...


class SendsUpdates(Protocol):
    """A client that updates can be sent to, such as `RemoteClient`."""

    async def session_update(self, *, session_id: str, update: Any) -> None:
        """Send an update."""
        ...
