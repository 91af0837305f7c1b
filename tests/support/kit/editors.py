"""Clients with files and terminals of a folder, which answer the read of a missing file as many clients do."""

from __future__ import annotations

from pathlib import Path

from acp_bindings import v1
from acp_kit.client import FileHandlers, TerminalHandlers, Terminals, UpdateHandlers, Workspace
from acp_runtime import InternalError, ResourceNotFound
from tests.support.kit.turns import KeepingClient


class Editor(UpdateHandlers, FileHandlers, KeepingClient):
    """Serves the files of a folder. A missing file gets -32603 and the system's text, as if a handler had raised."""

    def __init__(self, agent: v1.RemoteAgent, folder: Path) -> None:
        super().__init__(agent)
        self.workspace = Workspace(folder)

    async def fs_read_text_file(self, request: v1.ReadTextFileRequest) -> v1.ReadTextFileResponse:
        try:
            return await super().fs_read_text_file(request)
        except ResourceNotFound as error:
            details = f"ENOENT: no such file or directory, open '{request.path}'"
            raise InternalError(data={"details": details}) from error


class EditorWithTerminals(TerminalHandlers, Editor):
    """Has terminals, too."""

    def __init__(self, agent: v1.RemoteAgent, folder: Path, terminals: Terminals) -> None:
        super().__init__(agent, folder)
        self.terminals = terminals
