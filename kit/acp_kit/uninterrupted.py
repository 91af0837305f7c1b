"""Finishes what must not be left half done, even if the task that waits for it is cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def uninterrupted(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end, and return its result or raise its error.

    Raises:
        CancelledError: once the coroutine has ended, if this task was cancelled meanwhile.
    """
    # Here, because it loads all of acp_runtime.connection.
    from acp_runtime.connection.shielded_waits import ShieldedWaits

    task = asyncio.create_task(work)
    waits = ShieldedWaits()
    await waits.finish(task, on_cancel=lambda: None)
    waits.raise_cancelled()
    return task.result()
