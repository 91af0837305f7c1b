"""Waits that a cancellation shortens but doesn't end: everything is closed first, then the cancellation is raised.

Each cancellation shortens the deadlines of the waits that follow, so that pressing Ctrl-C again helps.
"""

from __future__ import annotations

import asyncio
import asyncio.tasks
from collections.abc import Callable
from math import inf
from typing import Any

# A private name of CPython, as nothing public lets `asyncio.run` end before a task that ignores its cancellation. If it
# is missing, `forget` does nothing.
_unregister: Callable[[asyncio.Task[Any]], None] | None = getattr(asyncio.tasks, "_unregister_task", None)

# The most seconds that a wait may take after no, one, two, and three or more cancellations.
_MAX_SECONDS = (inf, 0.5, 0.1, 0.0)
_FIRST_PAUSE, _LAST_PAUSE = 0.001, 0.05


def forget(task: asyncio.Task[Any]) -> None:
    """Let `asyncio.run` end although a task ignores its cancellation."""
    if _unregister is not None:
        _unregister(task)


class ShieldedWaits:
    """Waits while something is closed. Cancelling the waiting task shortens the waits, but ends none.

    Call `raise_cancelled` when everything is closed. A scope that cancels in every iteration of the event loop with
    the same message (as anyio's do) counts as one cancellation and causes no wake-ups.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._count = 0
        self._message: object = None
        self._cancelled: asyncio.CancelledError | None = None

    def begin(self, error: BaseException) -> None:
        """Count the cancellations that came before closing began, given the error that ended the block."""
        task = asyncio.current_task()
        if isinstance(error, asyncio.CancelledError) and task is not None:
            self._count += max(0, task.cancelling() - 1)

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
        cancel = on_cancel or task.cancel
        if self._count:
            cancel()
        await self._wait(task, cancel)
        if not task.cancelled():
            task.result()

    async def wait(self, event: asyncio.Future[Any], deadline: float) -> bool:
        """Wait for a future, at most `deadline` seconds. Return whether it is done."""
        alarm = _Alarm(self._loop)
        event.add_done_callback(alarm.ring)
        try:
            alarm.set(self._limited(deadline))
            await self._wait(alarm.rung, lambda: alarm.set(self._limited(deadline)))
        finally:
            event.remove_done_callback(alarm.ring)
            alarm.cancel()
        return event.done()

    async def until(self, condition: Callable[[], bool], deadline: float) -> bool:
        """Poll a condition at growing intervals, for at most `deadline` seconds. Return whether it holds."""
        start, pause = self._loop.time(), _FIRST_PAUSE
        never: asyncio.Future[None] = self._loop.create_future()
        while not condition():
            if self._loop.time() >= start + self._limited(deadline):
                return False
            await self.wait(never, pause)
            pause = min(2 * pause, _LAST_PAUSE)
        return True

    def _limited(self, deadline: float) -> float:
        return min(deadline, _MAX_SECONDS[min(self._count, len(_MAX_SECONDS) - 1)])

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
        """Count a cancellation. Return False if it repeats the last one."""
        if message is not None and message == self._message:
            return False
        self._message = message
        self._count += 1
        return True


class _Uncancelled(asyncio.Future[None]):
    """A future that refuses to be cancelled. The waiting task is cancelled when the future is done."""

    def __init__(self, on_cancel: Callable[[object], object]) -> None:
        super().__init__()
        self._on_cancel = on_cancel

    def cancel(self, msg: object = None) -> bool:
        """Call `on_cancel` instead of cancelling."""
        self._on_cancel(msg)
        return False

    def end(self, _: object) -> None:
        """Set the result."""
        if not self.done():
            self.set_result(None)


class _Alarm:
    """A timer whose time, counted from its creation, can be changed."""

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
