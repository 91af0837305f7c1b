"""Waiting for what has to be finished, also while this task is being cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any


async def finish(work: Coroutine[Any, Any, Any] | asyncio.Task[Any]) -> None:
    """Run something to its end, which has to be near. A cancellation that comes meanwhile is raised afterwards."""
    task = work if isinstance(work, asyncio.Task) else asyncio.create_task(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled
    task.result()
