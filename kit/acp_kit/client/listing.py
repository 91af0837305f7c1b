"""Lists the sessions of an agent, page by page."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

from acp_bindings import v1
from acp_runtime import ABSENT


async def list_sessions(
    agent: v1.RemoteAgent, *, cwd: str | Path | None = None
) -> AsyncGenerator[v1.SessionInfo, None]:
    """Yield the sessions that an agent lists: `async for info in list_sessions(agent)`.

    Each page is requested when the previous one has been read. A repeated cursor ends the list.

    Args:
        agent: the proxy of the agent, after `initialize`.
        cwd: only sessions with this working directory.

    Raises:
        CapabilityError: if the agent can't list sessions.
        RemoteError: if it answers with an error.
    """
    cursor: Any = ABSENT
    cursors: set[str | None] = set()
    while cursor is not None:
        page = await agent.session_list(cwd=ABSENT if cwd is None else str(cwd), cursor=cursor)
        for session in page.sessions:
            yield session
        cursor = page.next_cursor
        if cursor in cursors:
            return
        cursors.add(cursor)
