"""For agents: sessions, turns, tool calls, permissions, files, terminals, commands, settings and MCP servers.

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

from acp_kit.common.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from acp_kit.agent.commands import Command as Command, Commands as Commands
    from acp_kit.agent.elicitation import (
        ElicitationResult as ElicitationResult,
        elicit as elicit,
        elicit_url as elicit_url,
    )
    from acp_kit.agent.errors import Rejected as Rejected, TurnCancelled as TurnCancelled
    from acp_kit.agent.files import SessionFiles as SessionFiles
    from acp_kit.agent.mcp_servers import McpServers as McpServers
    from acp_kit.agent.model_tools import call_tool as call_tool
    from acp_kit.agent.permissions import Decision as Decision, PermissionMemory as PermissionMemory, ask as ask
    from acp_kit.agent.sessions import Session as Session, Sessions as Sessions
    from acp_kit.agent.settings import Settings as Settings, select as select, toggle as toggle
    from acp_kit.agent.terminals import Terminal as Terminal, TerminalResult as TerminalResult
    from acp_kit.agent.tool_calls import ToolCall as ToolCall
    from acp_kit.agent.turns import Turn as Turn
else:
    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "commands": ("Command", "Commands"),
            "elicitation": ("ElicitationResult", "elicit", "elicit_url"),
            "errors": ("Rejected", "TurnCancelled"),
            "files": ("SessionFiles",),
            "mcp_servers": ("McpServers",),
            "model_tools": ("call_tool",),
            "permissions": ("Decision", "PermissionMemory", "ask"),
            "sessions": ("Session", "Sessions"),
            "settings": ("Settings", "select", "toggle"),
            "terminals": ("Terminal", "TerminalResult"),
            "tool_calls": ("ToolCall",),
            "turns": ("Turn",),
        },
    )
