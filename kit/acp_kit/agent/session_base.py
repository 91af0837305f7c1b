"""A session as its turns and tool calls use it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TypeAlias
from uuid import uuid4

from acp_bindings.v1 import RemoteClient, SessionUpdate
from acp_kit.agent.files import SessionFiles
from acp_kit.agent.permissions import PermissionMemory
from acp_kit.common.profiles import check_version
from acp_kit.common.sequences import check_sequence

Record: TypeAlias = Callable[[str, SessionUpdate], Awaitable[None]]


class SessionBase:
    """A `Session` without the method that begins a turn, so that turns can use it."""

    def __init__(
        self,
        client: RemoteClient,
        session_id: str,
        *,
        cwd: str | Path,
        additional_directories: Sequence[str | Path] = (),
        record: Record | None = None,
        continued: bool = False,
    ) -> None:
        """Make a session. `Sessions.create` does this and keeps it.

        Args:
            client: the proxy of the client.
            session_id: its id.
            cwd: its working directory.
            additional_directories: additional directories that its tools may use.
            record: is awaited with the session's id and each update before that is sent, to keep a history.
            continued: whether it is an earlier session. The ids of its earlier tool calls are not known here.
        """
        check_version(client)
        self.client = client
        self.id = session_id
        self.cwd: Path = Path(cwd)
        directories = check_sequence("additional_directories", additional_directories)
        self.roots: tuple[Path, ...] = (self.cwd, *map(Path, directories))
        self.permissions: PermissionMemory = PermissionMemory()
        self.files: SessionFiles = SessionFiles(client, session_id, self.roots)
        self._record = record
        self._continued = continued
        self._tool_call_ids: set[str] = set()

    def new_tool_call_id(self, given_id: str | None) -> str:
        """Return an id for a new tool call: the given one, unless another tool call of the session may have it."""
        id = given_id
        if id is None or self._continued or id in self._tool_call_ids:
            id = uuid4().hex
        self._tool_call_ids.add(id)
        return id

    async def send(self, update: SessionUpdate) -> None:
        """Record an update and send it to the client."""
        await self.record(update)
        await self.client.session_update(session_id=self.id, update=update)

    async def record(self, update: SessionUpdate) -> None:
        """Record an update without sending it, because the client has it, such as a chunk of the user's message."""
        if (tool_call_id := vars(update).get("tool_call_id")) is not None:
            self._tool_call_ids.add(tool_call_id)
        if self._record is not None:
            await self._record(self.id, update)
