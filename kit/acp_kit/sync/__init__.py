"""The client's side without `await`: for scripts, notebooks, and frameworks whose code isn't asynchronous.

For example:

    with spawn_agent("gemini", "--acp") as agent, agent.open_session() as session:
        print(session.ask("What is in this folder?"))

        with session.prompt("And what is missing?") as turn:
            for update in turn:
                ...
        print(turn.stop_reason, session.state.plan)

An agent has an event loop in a thread of its own. These classes call the asynchronous ones there, and wait.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acp_kit.lazy import load

if TYPE_CHECKING:
    from acp_kit.sync.agents import SyncAgent, spawn_agent
    from acp_kit.sync.callbacks import in_waiting_thread
    from acp_kit.sync.sessions import SyncSession
    from acp_kit.sync.turns import SyncTurn

__all__ = ["SyncAgent", "SyncSession", "SyncTurn", "in_waiting_thread", "spawn_agent"]

_MODULES = {
    "SyncAgent": "agents",
    "SyncSession": "sessions",
    "SyncTurn": "turns",
    "in_waiting_thread": "callbacks",
    "spawn_agent": "agents",
}


def __getattr__(name: str) -> Any:
    """Load a name on first use."""
    return load(__name__, _MODULES, name)
