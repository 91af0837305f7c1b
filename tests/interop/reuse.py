"""Reuses connections and processes in several tests, because starting a peer takes longer than most tests."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import Any

_idle: dict[tuple[str, ...], tuple[Any, AsyncExitStack]] = {}
_shared: dict[tuple[str, ...], tuple[Any, AsyncExitStack]] = {}


@asynccontextmanager
async def reused(key: list[str], connect: Callable[[], AbstractAsyncContextManager[Any]]) -> AsyncIterator[Any]:
    """Yield the connection with a key, and open it if there is none. It is closed if the test fails."""
    idle = _idle.pop(tuple(key), None)
    if idle is None:
        stack = AsyncExitStack()
        idle = (await stack.enter_async_context(connect()), stack)
    peer, stack = idle
    try:
        yield peer
    except BaseException:
        await stack.__aexit__(*sys.exc_info())
        raise
    _idle[tuple(key)] = idle


async def shared(key: list[str], start: Callable[[], AbstractAsyncContextManager[Any]]) -> Any:
    """Return the process with a key, which several connections use at the same time, and start it if there is none."""
    if tuple(key) not in _shared:
        stack = AsyncExitStack()
        _shared[tuple(key)] = (await stack.enter_async_context(start()), stack)
    process, _ = _shared[tuple(key)]
    return process


async def close_all() -> None:
    """Close all connections, and then the processes that they share."""
    for open_ones in (_idle, _shared):
        while open_ones:
            _, (_, stack) = open_ones.popitem()
            await stack.aclose()
