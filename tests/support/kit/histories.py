"""Stores of histories for tests, and what they hold."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from acp_kit.history import HistoryStore, MemoryHistory, SqlHistory
from tests.support.kit.shown import shown, state_of

KINDS = ("memory", "sql")


@asynccontextmanager
async def opened(kind: str, folder: Path) -> AsyncGenerator[HistoryStore, None]:
    if kind == "memory":
        yield MemoryHistory()
    else:
        async with SqlHistory(folder / "history.db") as store:
            yield store


async def read(store: HistoryStore, session_id: str = "s") -> list[Any]:
    return [update async for update in store.read(session_id)]


def kept(updates: list[Any]) -> Any:
    """What updates show that belongs to a history."""
    return {**shown(state_of(updates)), "notices": []}
