"""For clients: sessions and their state, files, terminals, permissions and questions to the user.

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

from acp_kit.common.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from acp_kit.client.elicitations import Elicitations as Elicitations
    from acp_kit.client.handlers import (
        ElicitationHandlers as ElicitationHandlers,
        FileHandlers as FileHandlers,
        PermissionHandlers as PermissionHandlers,
        TerminalHandlers as TerminalHandlers,
        client_capabilities as client_capabilities,
    )
    from acp_kit.client.listing import list_sessions as list_sessions
    from acp_kit.client.open_sessions import (
        UpdateHandlers as UpdateHandlers,
        deliver_update as deliver_update,
    )
    from acp_kit.client.permission_rules import allow as allow, ask as ask, reject as reject
    from acp_kit.client.permissions import PermissionPolicy as PermissionPolicy, choose_option as choose_option
    from acp_kit.client.sessions import (
        ClientSession as ClientSession,
        find_session as find_session,
        open_session as open_session,
    )
    from acp_kit.client.snapshots import Entry as Entry, Snapshot as Snapshot
    from acp_kit.client.state import SessionState as SessionState
    from acp_kit.client.supervised import (
        AgentChange as AgentChange,
        AgentFailed as AgentFailed,
        SessionLost as SessionLost,
        Supervised as Supervised,
    )
    from acp_kit.client.terminal_login import log_in_from_terminal as log_in_from_terminal
    from acp_kit.client.turns import Turn as Turn, UnfinishedTurn as UnfinishedTurn
    from acp_kit.common.forms import form_defaults as form_defaults, form_problems as form_problems
    from acp_kit.local.terminals import Terminals as Terminals
    from acp_kit.local.workspace import Workspace as Workspace
    from acp_kit.updates.messages import Message as Message
else:
    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "elicitations": ("Elicitations",),
            "handlers": (
                "ElicitationHandlers",
                "FileHandlers",
                "PermissionHandlers",
                "TerminalHandlers",
                "client_capabilities",
            ),
            "listing": ("list_sessions",),
            "open_sessions": ("UpdateHandlers", "deliver_update"),
            "permission_rules": ("allow", "ask", "reject"),
            "permissions": ("PermissionPolicy", "choose_option"),
            "sessions": ("ClientSession", "find_session", "open_session"),
            "snapshots": ("Entry", "Snapshot"),
            "state": ("SessionState",),
            "supervised": ("AgentChange", "AgentFailed", "SessionLost", "Supervised"),
            "terminal_login": ("log_in_from_terminal",),
            "turns": ("Turn", "UnfinishedTurn"),
            ".common.forms": ("form_defaults", "form_problems"),
            ".local.terminals": ("Terminals",),
            ".local.workspace": ("Workspace",),
            ".updates.messages": ("Message",),
        },
    )
