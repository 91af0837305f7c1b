"""Finishes what must not be left half done, even if the task that waits for it is cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

_running: set[asyncio.Task[Any]] = set()  # the event loop itself keeps no tasks alive


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


async def finished_soon(work: Coroutine[Any, Any, object], deadline: float) -> None:
    """Run a coroutine to its end, and raise its error, but wait for it at most `deadline` seconds.

    After that, it goes on by itself, and an error of it is dropped.

    Raises:
        CancelledError: at the end of the wait, if this task was cancelled meanwhile. That shortens the wait.
    """
    from acp_runtime.connection.shielded_waits import ShieldedWaits

    task = asyncio.create_task(work)
    _running.add(task)
    task.add_done_callback(_ended)
    waits = ShieldedWaits()
    is_done = await waits.wait(task, deadline)
    waits.raise_cancelled()
    if is_done:
        task.result()


def _ended(task: asyncio.Task[Any]) -> None:
    _running.discard(task)
    if not task.cancelled():
        task.exception()  # marks it as retrieved
