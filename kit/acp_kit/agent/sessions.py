"""The sessions of an agent."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias
from uuid import uuid4

from acp_bindings.v1 import ContentBlock, RemoteClient, SessionUpdate
from acp_kit.agent.files import SessionFiles
from acp_kit.agent.permissions import PermissionMemory
from acp_runtime import ResourceNotFound

if TYPE_CHECKING:
    from acp_kit.agent.turns import Turn

Record: TypeAlias = Callable[[str, SessionUpdate], Awaitable[None]]


class Session:
    """One session of an agent: where it works, and what the user permitted in it.

    Attributes:
        id: its id.
        client: the proxy of the client that it belongs to.
        cwd: its working directory.
        roots: its working directory and the additional ones. Tools should not touch files elsewhere.
        permissions: what the user decided for the rest of the session.
        files: its text files, in the client's editor or on the disk.
    """

    def __init__(
        self,
        client: RemoteClient,
        session_id: str,
        *,
        cwd: str | Path,
        additional_directories: Sequence[str | Path] = (),
        record: Record | None = None,
    ) -> None:
        """Make a session. `Sessions.create` does this and keeps it.

        Args:
            client: the proxy of the client.
            session_id: its id.
            cwd: its working directory.
            additional_directories: further directories that its tools may use.
            record: is awaited with the session's id and each update before that is sent, to keep a history.
        """
        self.client = client
        self.id = session_id
        self.cwd = Path(cwd)
        self.roots = (self.cwd, *map(Path, additional_directories))
        self.permissions = PermissionMemory()
        self.files = SessionFiles(client, session_id, self.roots)
        self._record = record

    async def send(self, update: SessionUpdate) -> None:
        """Record an update and send it to the client."""
        if self._record is not None:
            await self._record(self.id, update)
        await self.client.session_update(session_id=self.id, update=update)

    async def record(self, update: SessionUpdate) -> None:
        """Record an update that the client knows already, such as a chunk of the user's message."""
        if self._record is not None:
            await self._record(self.id, update)

    def turn(self, prompt: Sequence[ContentBlock] = ()) -> Turn:
        """Begin a turn: `async with session.turn(request.prompt) as turn`.

        Args:
            prompt: the user's message, for the history. It is not sent.
        """
        from acp_kit.agent.turns import Turn

        return Turn(self, prompt)


class Sessions:
    """The sessions of an agent, by id.

    Getting an id that is unknown raises `ResourceNotFound`, which is what the client should be told.
    """

    def __init__(self, *, record: Record | None = None) -> None:
        """Make an empty collection.

        Args:
            record: is awaited with a session's id and each update before that is sent, to keep a history.
        """
        self._record = record
        self._sessions: dict[str, Session] = {}

    def create(
        self,
        client: RemoteClient,
        *,
        cwd: str | Path,
        additional_directories: Sequence[str | Path] = (),
        session_id: str | None = None,
    ) -> Session:
        """Make a session and keep it.

        Args:
            client: the proxy of the client.
            cwd: its working directory.
            additional_directories: further directories that its tools may use.
            session_id: the id of an earlier session that is loaded or resumed; without it, a new id. A session with
                this id is replaced.
        """
        session = Session(
            client,
            session_id or uuid4().hex,
            cwd=cwd,
            additional_directories=additional_directories,
            record=self._record,
        )
        self._sessions[session.id] = session
        return session

    def remove(self, session_id: str) -> None:
        """Forget a session. An id that is unknown is no error."""
        self._sessions.pop(session_id, None)

    def __getitem__(self, session_id: str) -> Session:
        found = self._sessions.get(session_id)
        if found is None:
            raise ResourceNotFound(f"There is no session {session_id!r}", data={"sessionId": session_id})
        return found

    def get(self, session_id: str) -> Session | None:
        """Return a session; None if the id is unknown."""
        return self._sessions.get(session_id)

    def __contains__(self, session_id: object) -> bool:
        return session_id in self._sessions

    def __iter__(self) -> Iterator[str]:
        return iter(self._sessions)

    def __len__(self) -> int:
        return len(self._sessions)
