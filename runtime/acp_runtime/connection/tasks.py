"""The tasks of handlers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextvars import copy_context
from typing import Any, TypeAlias

Ended: TypeAlias = Callable[["asyncio.Task[None]"], object]


class Tasks:
    """Creates the tasks of one connection.

    Attributes:
        running: those that have not ended, each with the function that is called then.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._context = copy_context()
        self.running: dict[asyncio.Task[None], Ended] = {}

    def create(self, coroutine: Coroutine[Any, Any, None], ended: Ended = lambda _: None) -> asyncio.Task[None]:
        """Create a task that starts in a later iteration of the event loop. Call `ended` with it when it has ended."""
        # Handlers must not inherit the context variables of the code that lets them start. An eager task factory must
        # not run them here (Python 3.12): their sessions and requests are not complete yet.
        task = asyncio.Task(coroutine, loop=self._loop, context=self._context.copy())
        self.running[task] = ended
        task.add_done_callback(self._task_ended)
        return task

    def _task_ended(self, task: asyncio.Task[None]) -> None:
        self.running.pop(task)(task)
        # Looked at, so that asyncio doesn't log a KeyboardInterrupt as well, which has left the event loop.
        if not task.cancelled() and (error := task.exception()) and isinstance(error, Exception):
            raise error
