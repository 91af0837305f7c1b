"""The agent's side: turns, tool calls, permissions, terminals.

For example:

    async with self.sessions[request.session_id].turn(request.prompt) as turn:
        await turn.say("Let me look. ")
        async with turn.tool_call("Read notes.txt", kind="read") as call:
            await call.ask()
            call.output(text)
    return turn.response
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_kit.lazy import lazy_exports

if TYPE_CHECKING:
    from acp_kit.agent.commands import Command, Commands
    from acp_kit.agent.elicitation import ElicitationResult, elicit, elicit_url
    from acp_kit.agent.errors import Rejected, TurnCancelled
    from acp_kit.agent.files import SessionFiles
    from acp_kit.agent.mcp_servers import McpServers
    from acp_kit.agent.permissions import Decision, PermissionMemory, ask
    from acp_kit.agent.session import Session
    from acp_kit.agent.sessions import Sessions
    from acp_kit.agent.settings import Settings, select, toggle
    from acp_kit.agent.terminals import Terminal, TerminalResult
    from acp_kit.agent.tool_calls import ToolCall
    from acp_kit.agent.turns import Turn
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "commands": ("Command", "Commands"),
            "elicitation": ("ElicitationResult", "elicit", "elicit_url"),
            "errors": ("Rejected", "TurnCancelled"),
            "files": ("SessionFiles",),
            "mcp_servers": ("McpServers",),
            "permissions": ("Decision", "PermissionMemory", "ask"),
            "session": ("Session",),
            "sessions": ("Sessions",),
            "settings": ("Settings", "select", "toggle"),
            "terminals": ("Terminal", "TerminalResult"),
            "tool_calls": ("ToolCall",),
            "turns": ("Turn",),
        },
        {"McpServers": ("mcp", "mcp")},
    )

__all__ = [
    "Command",
    "Commands",
    "Decision",
    "ElicitationResult",
    "McpServers",
    "PermissionMemory",
    "Rejected",
    "Session",
    "SessionFiles",
    "Sessions",
    "Settings",
    "Terminal",
    "TerminalResult",
    "ToolCall",
    "Turn",
    "TurnCancelled",
    "ask",
    "elicit",
    "elicit_url",
    "select",
    "toggle",
]
