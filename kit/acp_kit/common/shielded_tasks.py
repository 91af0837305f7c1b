"""Runs coroutines to their end, even if the task that waits for them is cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from logging import getLogger
from typing import Any, TypeVar

from acp_runtime import ConnectionClosed

T = TypeVar("T")

# How long `run_within` still waits after a cancellation, in seconds.
_WAIT_AFTER_CANCELLATION = 0.5

_logger = getLogger(__name__)

# The event loop itself keeps only weak references to tasks.
_background_tasks: set[asyncio.Task[Any]] = set()


async def run_to_end(work: Coroutine[Any, Any, T], on_cancel: Callable[[], object] = lambda: None) -> T:
    """Run a coroutine to its end, and return its result or raise its error.

    Args:
        work: the coroutine.
        on_cancel: called each time this task is cancelled meanwhile.

    Raises:
        CancelledError: if this task was cancelled meanwhile, once the coroutine has ended. An error of the coroutine is
            logged, except that the peer has left. (If it was raised instead, a task that continues after errors would
            never end.)
    """
    task = asyncio.create_task(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            cancelled = error
            on_cancel()
        except GeneratorExit:
            _background_tasks.add(task)
            task.add_done_callback(_log_failure)
            raise
    if cancelled is None:
        return task.result()
    _log_failure(task)
    raise cancelled


def _log_failure(task: asyncio.Task[Any]) -> None:
    _background_tasks.discard(task)
    failure = None if task.cancelled() else task.exception()
    if failure is not None and not isinstance(failure, ConnectionClosed):
        _logger.error("A task was cancelled, and what it had to finish first has failed", exc_info=failure)


async def run_within(work: Coroutine[Any, Any, object], deadline: float) -> None:
    """Run a coroutine, and wait for it at most `deadline` seconds. Raise its error if it fails by then.

    After the deadline, it continues in the background, and its error is dropped.

    Raises:
        CancelledError: if this task was cancelled meanwhile, after a shorter wait.
    """
    task = asyncio.create_task(work)
    _background_tasks.add(task)
    task.add_done_callback(_forget)
    try:
        await asyncio.wait({task}, timeout=deadline)
    except asyncio.CancelledError:
        await asyncio.wait({task}, timeout=min(deadline, _WAIT_AFTER_CANCELLATION))
        raise
    if task.done():
        task.result()


def _forget(task: asyncio.Task[Any]) -> None:
    _background_tasks.discard(task)
    if not task.cancelled():
        task.exception()  # marks it as retrieved
