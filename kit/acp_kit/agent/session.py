"""One session of an agent: where it works, and what the user permitted in it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from acp_bindings.v1 import ContentBlock, RemoteClient, SessionUpdate
from acp_kit.agent.files import SessionFiles
from acp_kit.agent.permissions import PermissionMemory
from acp_kit.agent.turns import Turn
from acp_kit.sequences import not_a_text

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
        self.cwd: Path = Path(cwd)
        self.roots: tuple[Path, ...] = (
            self.cwd,
            *map(Path, not_a_text("additional_directories", additional_directories)),
        )
        self.permissions: PermissionMemory = PermissionMemory()
        self.files: SessionFiles = SessionFiles(client, session_id, self.roots)
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
        return Turn(self, prompt)
