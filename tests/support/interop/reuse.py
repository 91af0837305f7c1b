"""Connections that serve one test after the other, because starting a peer takes longer than most scenarios."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import Any

_idle: dict[tuple[str, ...], tuple[Any, AsyncExitStack]] = {}


@asynccontextmanager
async def reused(key: list[str], connect: Callable[[], AbstractAsyncContextManager[Any]]) -> AsyncIterator[Any]:
    """The connection of this key, made when there is none. A test that fails takes it with it."""
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
    """End what is kept."""
    while _idle:
        _, (_, stack) = _idle.popitem()
        await stack.aclose()
