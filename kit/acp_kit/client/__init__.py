"""The client's side: sessions and their state, files, terminals and permissions.

For example:

    class MyClient(UpdateHandlers, FileHandlers, Client):
        def __init__(self, agent: RemoteAgent) -> None:
            self.agent = agent
            self.workspace = Workspace("/path/to/project")

    async with open_session(agent, cwd="/path/to/project") as session:
        async with session.prompt("hello") as turn:
            async for update in turn:
                ...
    print(session.state.text, turn.stop_reason)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_kit.lazy import lazy_exports

if TYPE_CHECKING:
    from acp_kit.client.elicitations import Elicitations
    from acp_kit.client.handlers import (
        ElicitationHandlers,
        FileHandlers,
        PermissionHandlers,
        TerminalHandlers,
        UpdateHandlers,
        client_capabilities,
    )
    from acp_kit.client.messages import Compaction, Message
    from acp_kit.client.open_sessions import count_unknown, deliver_update, find_session
    from acp_kit.client.permissions import PermissionPolicy, allow, ask, reject
    from acp_kit.client.sessions import ClientSession, open_session
    from acp_kit.client.snapshots import Entry, Snapshot
    from acp_kit.client.state import SessionState
    from acp_kit.client.supervised import AgentChange, AgentFailed, SessionLost, Supervised
    from acp_kit.client.terminal_login import log_in_from_terminal
    from acp_kit.client.terminals import Terminals
    from acp_kit.client.turns import Turn, UnfinishedTurn
    from acp_kit.client.workspace import Workspace
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "elicitations": ("Elicitations",),
            "handlers": (
                "ElicitationHandlers",
                "FileHandlers",
                "PermissionHandlers",
                "TerminalHandlers",
                "UpdateHandlers",
                "client_capabilities",
            ),
            "messages": ("Compaction", "Message"),
            "open_sessions": ("count_unknown", "deliver_update", "find_session"),
            "permissions": ("PermissionPolicy", "allow", "ask", "reject"),
            "sessions": ("ClientSession", "open_session"),
            "snapshots": ("Entry", "Snapshot"),
            "state": ("SessionState",),
            "supervised": ("AgentChange", "AgentFailed", "SessionLost", "Supervised"),
            "terminal_login": ("log_in_from_terminal",),
            "terminals": ("Terminals",),
            "turns": ("Turn", "UnfinishedTurn"),
            "workspace": ("Workspace",),
        },
    )

__all__ = [
    "AgentChange",
    "AgentFailed",
    "ClientSession",
    "Compaction",
    "ElicitationHandlers",
    "Elicitations",
    "Entry",
    "FileHandlers",
    "Message",
    "PermissionHandlers",
    "PermissionPolicy",
    "SessionLost",
    "SessionState",
    "Snapshot",
    "Supervised",
    "TerminalHandlers",
    "Terminals",
    "Turn",
    "UnfinishedTurn",
    "UpdateHandlers",
    "Workspace",
    "allow",
    "ask",
    "client_capabilities",
    "count_unknown",
    "deliver_update",
    "find_session",
    "log_in_from_terminal",
    "open_session",
    "reject",
]
