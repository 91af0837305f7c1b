"""Waits that a cancellation doesn't cut short: what has to be ended is ended first, and the cancellation raised after.

Each cancellation shortens the deadlines of what follows, so that nobody who presses Ctrl-C again waits for long.
"""

from __future__ import annotations

import asyncio
import asyncio.tasks
from collections.abc import Callable
from math import inf
from typing import Any

# A private name of CPython. Without it `forget` does nothing.
_unregister: Callable[[asyncio.Task[Any]], None] | None = getattr(asyncio.tasks, "_unregister_task", None)

# How long a wait may last after no, one, two, three or more cancellations.
_LONGEST = (inf, 0.5, 0.1, 0.0)
_PAUSE_FIRST, _PAUSE_LAST = 0.001, 0.05


def forget(task: asyncio.Task[Any]) -> None:
    """Let `asyncio.run` end although this task, which swallows its cancellations, does not."""
    if _unregister is not None:
        _unregister(task)


class ShieldedWaits:
    """Waits while something is being closed. A cancellation of the waiting task ends no wait, but shortens it.

    Call `raise_cancelled` when everything is closed. A scope that cancels in every turn of the event loop, with the
    same message each time (as anyio's do), counts as one cancellation and wakes nothing up.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._count = 0
        self._message: object = None
        self._cancelled: asyncio.CancelledError | None = None

    def begin(self, error: BaseException) -> None:
        """Say what the block was left with. Several cancellations may have come before it could be."""
        task = asyncio.current_task()
        if isinstance(error, asyncio.CancelledError) and task is not None:
            self._count += max(0, task.cancelling() - 1)

    def raise_cancelled(self) -> None:
        """Raise the last cancellation that came during a wait, if one did."""
        if self._cancelled is not None:
            raise self._cancelled

    async def finish(self, task: asyncio.Task[Any], on_cancel: Callable[[], object] | None = None) -> None:
        """Wait until a task has ended, and raise what it raised.

        Args:
            task: what to wait for.
            on_cancel: called whenever the waiting task is cancelled; cancels the task if left out.
        """
        cancel = on_cancel or task.cancel
        if self._count:
            cancel()
        await self._wait(task, cancel)
        if not task.cancelled():
            task.result()

    async def wait(self, event: asyncio.Future[Any], deadline: float) -> bool:
        """Wait for a future, for at most `deadline` seconds. Whether it is done."""
        alarm = _Alarm(self._loop)
        event.add_done_callback(alarm.ring)
        try:
            alarm.set(self._longest(deadline))
            await self._wait(alarm.rung, lambda: alarm.set(self._longest(deadline)))
        finally:
            event.remove_done_callback(alarm.ring)
            alarm.cancel()
        return event.done()

    async def until(self, condition: Callable[[], bool], deadline: float) -> bool:
        """Look until a condition holds, more and more slowly, for at most `deadline` seconds. Whether it holds."""
        start, pause = self._loop.time(), _PAUSE_FIRST
        never: asyncio.Future[None] = self._loop.create_future()
        while not condition():
            if self._loop.time() >= start + self._longest(deadline):
                return False
            await self.wait(never, pause)
            pause = min(2 * pause, _PAUSE_LAST)
        return True

    def _longest(self, deadline: float) -> float:
        return min(deadline, _LONGEST[min(self._count, len(_LONGEST) - 1)])

    async def _wait(self, event: asyncio.Future[Any], on_cancel: Callable[[], object]) -> None:
        if event.done():
            return
        done = _Uncancelled(lambda message: self._counts(message) and on_cancel())
        event.add_done_callback(done.end)
        try:
            await done
        except asyncio.CancelledError as error:
            self._cancelled = error
        finally:
            event.remove_done_callback(done.end)

    def _counts(self, message: object) -> bool:
        """Count a cancellation. False if it is the last one again."""
        if message is not None and message == self._message:
            return False
        self._message = message
        self._count += 1
        return True


class _Uncancelled(asyncio.Future[None]):
    """A future that refuses to be cancelled. Its task gets the cancellation when the future is done."""

    def __init__(self, on_cancel: Callable[[object], object]) -> None:
        super().__init__()
        self._on_cancel = on_cancel

    def cancel(self, msg: object = None) -> bool:
        """Tell that this was tried."""
        self._on_cancel(msg)
        return False

    def end(self, _: object) -> None:
        """Be done."""
        if not self.done():
            self.set_result(None)


class _Alarm:
    """A timer that can be brought forward, counted from when it was made."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._start = loop.time()
        self._handle: asyncio.TimerHandle | None = None
        self.rung: asyncio.Future[None] = loop.create_future()

    def set(self, seconds: float) -> None:
        self.cancel()
        self._handle = self._loop.call_at(self._start + seconds, self.ring)

    def cancel(self) -> None:
        if self._handle is not None:
            self._handle.cancel()

    def ring(self, _: object = None) -> None:
        if not self.rung.done():
            self.rung.set_result(None)
