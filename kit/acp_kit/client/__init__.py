"""The client's side: files, terminals, permissions.

class MyClient(Client):
    def __init__(self, agent: RemoteAgent) -> None:
        self.workspace = Workspace("/path/to/project")

    async def fs_read_text_file(self, request: ReadTextFileRequest) -> ReadTextFileResponse:
        return await self.workspace.fs_read_text_file(request)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from acp_kit.client.workspace import Workspace

__all__ = ["Workspace"]

_MODULES = {"Workspace": "workspace"}


def __getattr__(name: str) -> Any:
    """Load a name on first use, so that a client pays only for what it uses."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
