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

from typing import TYPE_CHECKING, Any

from acp_kit.lazy import load

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

_MODULES = {
    "AgentChange": "supervised",
    "AgentFailed": "supervised",
    "ClientSession": "sessions",
    "Compaction": "messages",
    "ElicitationHandlers": "handlers",
    "Elicitations": "elicitations",
    "Entry": "snapshots",
    "FileHandlers": "handlers",
    "Message": "messages",
    "PermissionHandlers": "handlers",
    "PermissionPolicy": "permissions",
    "SessionLost": "supervised",
    "SessionState": "state",
    "Snapshot": "snapshots",
    "Supervised": "supervised",
    "TerminalHandlers": "handlers",
    "Terminals": "terminals",
    "Turn": "turns",
    "UnfinishedTurn": "turns",
    "UpdateHandlers": "handlers",
    "Workspace": "workspace",
    "allow": "permissions",
    "ask": "permissions",
    "client_capabilities": "handlers",
    "count_unknown": "open_sessions",
    "deliver_update": "open_sessions",
    "find_session": "open_sessions",
    "log_in_from_terminal": "terminal_login",
    "open_session": "sessions",
    "reject": "permissions",
}


def __getattr__(name: str) -> Any:
    """Load a name on first use, so that a client pays only for what it uses."""
    return load(__name__, _MODULES, name)
