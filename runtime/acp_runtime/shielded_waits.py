"""Waits that a cancellation shortens but doesn't end: everything is closed first, then the cancellation is raised.

Each cancellation shortens the deadlines of the waits that follow, so that pressing Ctrl-C again helps.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from math import inf
from typing import Any

# The most seconds that a wait may take after no, one, two, and three or more cancellations.
_MAX_SECONDS = (inf, 0.5, 0.1, 0.0)
_FIRST_PAUSE, _LAST_PAUSE = 0.001, 0.05


def can_await(error: BaseException | None) -> bool:
    """Return whether a block that ends, with an error or without one, can await something.

    It can't if its event loop has ended, or in a forked child.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return not isinstance(error, GeneratorExit)


class ShieldedWaits:
    """Waits while something is closed. Cancelling the waiting task shortens the waits, but ends none.

    Call `raise_cancelled` when everything is closed. A scope that cancels in every iteration of the event loop with
    the same message (as anyio's do) counts as one cancellation.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._count = 0
        self._cancelled: asyncio.CancelledError | None = None

    def raise_cancelled(self) -> None:
        """Raise the last cancellation that came during a wait, if any."""
        if self._cancelled is not None:
            raise self._cancelled

    async def finish(self, task: asyncio.Task[Any], on_cancel: Callable[[], object] | None = None) -> None:
        """Wait until a task has ended, and raise its error, if any.

        Args:
            task: the task to wait for.
            on_cancel: called each time the waiting task is cancelled; by default `task.cancel`.
        """
        while not task.done():
            await self._wait(task, None, on_cancel or task.cancel)
        if not task.cancelled():
            task.result()

    async def until(self, condition: Callable[[], bool], deadline: float) -> bool:
        """Poll a condition at growing intervals, for at most `deadline` seconds. Return whether it holds."""
        start = self._loop.time()
        pause = _FIRST_PAUSE
        never: asyncio.Future[None] = self._loop.create_future()
        while not condition():
            seconds_left = start + min(deadline, self._max_seconds) - self._loop.time()
            if seconds_left <= 0:
                return False
            await self._wait(never, min(pause, seconds_left))
            pause = min(2 * pause, _LAST_PAUSE)
        return True

    @property
    def _max_seconds(self) -> float:
        return _MAX_SECONDS[min(self._count, len(_MAX_SECONDS) - 1)]

    async def _wait(
        self, event: asyncio.Future[Any], timeout: float | None, on_cancel: Callable[[], object] = lambda: None
    ) -> None:
        try:
            await asyncio.wait({event}, timeout=timeout)
        except asyncio.CancelledError as error:
            is_repeated = self._cancelled is not None and error.args != () and error.args == self._cancelled.args
            self._cancelled = error
            if not is_repeated:
                self._count += 1
                on_cancel()
