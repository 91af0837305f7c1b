"""Clients with files and terminals of a folder."""

from __future__ import annotations

from pathlib import Path

from acp_bindings import v1
from acp_kit.client import FileHandlers, TerminalHandlers, Terminals, UpdateHandlers, Workspace
from tests.support.kit.turns import KeepingClient


class Editor(UpdateHandlers, FileHandlers, KeepingClient):
    """Serves the files of a folder."""

    def __init__(self, agent: v1.RemoteAgent, folder: Path) -> None:
        super().__init__(agent)
        self.workspace = Workspace(folder)


class EditorWithTerminals(TerminalHandlers, Editor):
    """Has terminals, too."""

    def __init__(self, agent: v1.RemoteAgent, folder: Path, terminals: Terminals) -> None:
        super().__init__(agent, folder)
        self.terminals = terminals
