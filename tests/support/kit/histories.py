"""Stores of histories for tests, and their contents."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from acp_kit.history import HistoryStore, MemoryHistory, SqlHistory
from tests.support.kit.shown import shown, state_of
from tests.support.postgresql import PostgreSQL

DATABASES = ("sqlite", pytest.param("postgresql", marks=pytest.mark.test_all))
KINDS = ("memory", *DATABASES)


def location(request: pytest.FixtureRequest, kind: str) -> str:
    """Return the path or the URL of a new database; empty for a history in memory."""
    if kind == "memory":
        return ""
    if kind == "sqlite":
        folder: Path = request.getfixturevalue("tmp_path")
        return str(folder / f"{uuid4().hex}.db")
    server: PostgreSQL = request.getfixturevalue("postgresql")
    return server.create_database()


@asynccontextmanager
async def opened(where: str | Path, *session_ids: str) -> AsyncGenerator[Any]:
    """Open the history at a `location`, and create sessions in it."""
    async with SqlHistory(where) if where else nullcontext(MemoryHistory()) as store:
        for session_id in session_ids:
            await store.create(session_id, cwd="/")
        yield store


async def read(store: HistoryStore, session_id: str = "s") -> list[Any]:
    return [update async for update in store.read(session_id)]


def kept(updates: list[Any]) -> Any:
    """What updates show that belongs to a history."""
    return {**shown(state_of(updates)), "notices": []}
