"""Histories of sessions: recorded while an agent works, replayed when a client loads a session.

For example:

    history = SqlHistory("history.db")                   # or MemoryHistory()
    await history.create("1", cwd="/path/to/project")
    await history.append("1", update)                    # or Sessions(record=history.append)
    await replay(history, "1", client)
    messages = to_openai([update async for update in history.read("1")])
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_kit.common.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from acp_kit.history.errors import (
        HistoryDamaged as HistoryDamaged,
        HistoryError as HistoryError,
        HistoryTooNew as HistoryTooNew,
        SessionExists as SessionExists,
        UnknownSession as UnknownSession,
    )
    from acp_kit.history.memory import MemoryHistory as MemoryHistory
    from acp_kit.history.model_messages import to_anthropic as to_anthropic, to_openai as to_openai
    from acp_kit.history.replaying import replay as replay
    from acp_kit.history.sql import SqlHistory as SqlHistory
    from acp_kit.history.store import HistoryStore as HistoryStore
else:
    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "errors": ("HistoryDamaged", "HistoryError", "HistoryTooNew", "SessionExists", "UnknownSession"),
            "memory": ("MemoryHistory",),
            "model_messages": ("to_anthropic", "to_openai"),
            "replaying": ("replay",),
            "sql": ("SqlHistory",),
            "store": ("HistoryStore",),
        },
        {"SqlHistory": ("history", "sqlalchemy", "greenlet")},
    )
