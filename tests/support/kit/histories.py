"""Stores of histories for tests, and their contents."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from typing import Any

from acp_kit.history import HistoryStore, MemoryHistory, SqlHistory
from tests.support.kit.shown import shown, state_of


@asynccontextmanager
async def opened(where: str | Path, *session_ids: str) -> AsyncGenerator[Any]:
    """Open the history at a path or a URL, or in memory if it is empty. Create sessions in it."""
    async with SqlHistory(where) if where else nullcontext(MemoryHistory()) as store:
        for session_id in session_ids:
            await store.create(session_id, cwd="/")
        yield store


async def read(store: HistoryStore, session_id: str = "s") -> list[Any]:
    return [update async for update in store.read(session_id)]


def kept(updates: list[Any]) -> Any:
    """What updates show that belongs to a history."""
    return {**shown(state_of(updates)), "notices": []}
