"""The sessions of an agent, by id."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from uuid import uuid4

from acp_bindings.v1 import RemoteClient
from acp_kit.agent.session import Session
from acp_kit.agent.session_base import Record
from acp_runtime import ResourceNotFound


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
            uuid4().hex if session_id is None else session_id,
            cwd=cwd,
            additional_directories=additional_directories,
            record=self._record,
            continued=session_id is not None,
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
