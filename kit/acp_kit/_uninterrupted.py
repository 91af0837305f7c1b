"""Finishes what must not be left half done, even if the task that waits for it is cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

# The most seconds that `finished_soon` waits after a cancellation.
_HURRIED = 0.5

_running: set[asyncio.Task[Any]] = set()  # the event loop itself keeps no tasks alive


async def run_to_end(work: Coroutine[Any, Any, T], on_cancel: Callable[[], object] = lambda: None) -> T:
    """Run a coroutine to its end, and return its result or raise its error, unless this task is cancelled meanwhile.

    Args:
        work: the coroutine.
        on_cancel: called each time this task is cancelled meanwhile.

    Raises:
        CancelledError: once the coroutine has ended, if this task was cancelled meanwhile. An error of the coroutine is
            its context. Otherwise, a task that goes on after errors would never end.
    """
    task = asyncio.create_task(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            cancelled = error
            on_cancel()
    try:
        return task.result()
    finally:
        if cancelled is not None:
            raise cancelled


async def run_within(work: Coroutine[Any, Any, object], deadline: float) -> None:
    """Run a coroutine to its end, and raise its error, but wait for it at most `deadline` seconds.

    After that, it continues in the background, and its error is dropped.

    Raises:
        CancelledError: at the end of the wait, if this task was cancelled meanwhile. That shortens the wait.
    """
    task = asyncio.create_task(work)
    _running.add(task)
    task.add_done_callback(_forget)
    try:
        await asyncio.wait({task}, timeout=deadline)
    except asyncio.CancelledError:
        await asyncio.wait({task}, timeout=min(deadline, _HURRIED))
        raise
    if task.done():
        task.result()


def _forget(task: asyncio.Task[Any]) -> None:
    _running.discard(task)
    if not task.cancelled():
        task.exception()  # marks it as retrieved
