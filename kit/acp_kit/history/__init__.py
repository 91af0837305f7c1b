"""Histories of sessions: recorded while an agent works, replayed when a client loads a session.

For example:

    history = SqlHistory("history.db")                   # or MemoryHistory()
    await history.create("1", cwd="/path/to/project")
    await history.append("1", update)                    # or Sessions(record=history.append)
    await replay(history, "1", client)
    messages = to_openai([update async for update in history.read("1")])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acp_kit.lazy import load

if TYPE_CHECKING:
    from acp_kit.history.errors import HistoryDamaged, HistoryError, HistoryTooNew, SessionExists, UnknownSession
    from acp_kit.history.memory import MemoryHistory
    from acp_kit.history.model_messages import to_anthropic, to_openai
    from acp_kit.history.replaying import replay
    from acp_kit.history.sql import SqlHistory
    from acp_kit.history.store import HistoryStore

__all__ = [
    "HistoryDamaged",
    "HistoryError",
    "HistoryStore",
    "HistoryTooNew",
    "MemoryHistory",
    "SessionExists",
    "SqlHistory",
    "UnknownSession",
    "replay",
    "to_anthropic",
    "to_openai",
]

_MODULES = {
    "HistoryDamaged": "errors",
    "HistoryError": "errors",
    "HistoryStore": "store",
    "HistoryTooNew": "errors",
    "MemoryHistory": "memory",
    "SessionExists": "errors",
    "SqlHistory": "sql",
    "UnknownSession": "errors",
    "replay": "replaying",
    "to_anthropic": "model_messages",
    "to_openai": "model_messages",
}


def __getattr__(name: str) -> Any:
    """Load a name on first use, so that only `SqlHistory` needs a database."""
    if name == "SqlHistory":
        from acp_kit.extras import require

        require("SqlHistory", "history", "sqlalchemy", "greenlet", "aiosqlite")
    return load(__name__, _MODULES, name)
