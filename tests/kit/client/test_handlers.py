"""A client advertises what its optional bases handle. That they do is tested with all pieces of the kit."""

from __future__ import annotations

from pathlib import Path

from acp_bindings.v1 import Client, ClientCapabilities, FileSystemCapabilities
from acp_kit.client import (
    FileHandlers,
    PermissionHandlers,
    TerminalHandlers,
    UpdateHandlers,
    Workspace,
    client_capabilities,
)


class _Everything(UpdateHandlers, FileHandlers, TerminalHandlers, PermissionHandlers, Client):
    def __init__(self, root: Path) -> None:
        self.workspace = Workspace(root)


class _Reader(UpdateHandlers, FileHandlers, PermissionHandlers, Client):
    def __init__(self, root: Path) -> None:
        self.workspace = Workspace(root, read_only=True)


class _Runner(UpdateHandlers, TerminalHandlers, PermissionHandlers, Client):
    pass


class _Viewer(UpdateHandlers, PermissionHandlers, Client):
    pass


def test_a_client_advertises_what_its_bases_serve_and_extensions(tmp_path: Path) -> None:
    files = FileSystemCapabilities(read_text_file=True, write_text_file=True)
    assert client_capabilities(_Everything(tmp_path)) == ClientCapabilities(fs=files, terminal=True)
    reading = FileSystemCapabilities(read_text_file=True, write_text_file=False)
    assert client_capabilities(_Reader(tmp_path)) == ClientCapabilities(fs=reading)
    assert client_capabilities(_Runner(), meta={"x": 1}) == ClientCapabilities(terminal=True, meta={"x": 1})
    assert client_capabilities(_Viewer()) == ClientCapabilities()
