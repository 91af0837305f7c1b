"""Reuses connections in several tests, because starting a peer takes longer than most tests."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import Any

_idle: dict[tuple[str, ...], tuple[Any, AsyncExitStack]] = {}


@asynccontextmanager
async def reused(key: list[str], connect: Callable[[], AbstractAsyncContextManager[Any]]) -> AsyncIterator[Any]:
    """Yield the connection with a key, and open it if there is none. It is closed if the test fails."""
    found = _idle.pop(tuple(key), None)
    if found is None:
        stack = AsyncExitStack()
        found = (await stack.enter_async_context(connect()), stack)
    peer, stack = found
    try:
        yield peer
    except BaseException:
        await stack.__aexit__(*sys.exc_info())
        raise
    _idle[tuple(key)] = found


async def close_all() -> None:
    """Close all connections."""
    while _idle:
        _, (_, stack) = _idle.popitem()
        await stack.aclose()
