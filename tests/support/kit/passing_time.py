"""Lets the deadlines of an event loop pass without waiting."""

from __future__ import annotations

import asyncio


def let_pass(seconds: float) -> None:
    """Let the clock of the running event loop jump ahead."""
    loop = asyncio.get_running_loop()
    clock = loop.time
    loop.time = lambda: clock() + seconds  # type: ignore[method-assign]
