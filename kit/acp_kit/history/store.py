"""What every store of histories can do."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from acp_bindings.v1 import ListSessionsResponse, SessionInfo, SessionUpdate


@runtime_checkable
class HistoryStore(Protocol):
    """The histories of an agent's sessions.

    Reading a session gives what shows the same as all updates that were appended: the chunks of a message are merged,
    each tool call is one update with its last state, and of settings, such as the plan or the mode, the last one is
    given at the end. Notices are not kept, because they aren't part of a session's history.
    """

    async def create(self, session_id: str, *, cwd: str, additional_directories: Sequence[str] = ()) -> None:
        """Create a session.

        Args:
            session_id: its id.
            cwd: its working directory, an absolute path.
            additional_directories: its further directories, absolute paths.

        Raises:
            SessionExists: there is a session with this id.
            ValueError: no database can store the id: it has a lone surrogate or U+0000.
        """
        ...

    async def append(self, session_id: str, *updates: SessionUpdate) -> None:
        """Append updates to a session: all of them, or none if it raises. If the connection to a database server is
        lost meanwhile, it raises although they may have been appended.

        What this returned for is in the history. If that is stored outside of the process, it stays there even if the
        process is killed.

        Raises:
            UnknownSession: there is no such session.
        """
        ...

    def read(self, session_id: str) -> AsyncGenerator[SessionUpdate, None]:
        """Read the updates of a session, in the order of their first appearance, a few at a time.

        Updates that are appended meanwhile are not read, unless they change an earlier one.

        Raises:
            UnknownSession: there is no such session.
        """
        ...

    async def info(self, session_id: str) -> SessionInfo:
        """Return a session's directories, its title and when it was last changed.

        Raises:
            UnknownSession: there is no such session.
        """
        ...

    async def list(self, *, cwd: str | None = None, cursor: str | None = None, limit: int = 50) -> ListSessionsResponse:
        """List sessions, the last changed first. The result can be the response to `session/list`.

        Args:
            cwd: only sessions with this working directory.
            cursor: the `next_cursor` of the previous part.
            limit: how many sessions to return at most, at least 1.

        Raises:
            TypeError: the limit is not an int.
            ValueError: it is less than 1.
            InvalidParams: the cursor is not one of this store.
        """
        ...

    async def rename(self, session_id: str, title: str | None) -> None:
        """Change the title of a session in the history. None removes it.

        The client isn't told. For an open session, `Session.send` with a `SessionUpdateSessionInfoUpdate` does both.

        Raises:
            UnknownSession: there is no such session.
        """
        from acp_bindings.v1 import SessionUpdateSessionInfoUpdate

        await self.append(session_id, SessionUpdateSessionInfoUpdate(title=title))

    async def delete(self, session_id: str) -> None:
        """Delete a session with its history. Does nothing if there is no such session."""
        ...

    async def fork(self, session_id: str, new_session_id: str, *, cwd: str | None = None) -> None:
        """Copy a session with its history so far.

        Args:
            session_id: the session to copy.
            new_session_id: the id of the copy.
            cwd: the working directory of the copy, if it differs.

        Raises:
            UnknownSession: there is no session to copy.
            SessionExists: there is a session with the new id.
        """
        ...


class SendsUpdates(Protocol):
    """A client that can be sent updates, such as `RemoteClient`."""

    async def session_update(self, *, session_id: str, update: Any) -> None:
        """Send an update."""
        ...
