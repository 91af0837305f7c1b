"""The tasks of a connection: those of the handlers of requests, and of session queues."""

from __future__ import annotations

import asyncio
import os
import sys
import traceback
from collections.abc import Callable, Coroutine, Iterator
from contextlib import suppress
from contextvars import copy_context
from typing import Any, TypeAlias

Ended: TypeAlias = Callable[["asyncio.Task[Any]"], None]


class HandlerTasks:
    """Creates tasks, and holds them until they have ended."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._context = copy_context()
        self._tasks: dict[asyncio.Task[Any], Ended] = {}

    def create(self, coroutine: Coroutine[Any, Any, Any], ended: Ended) -> asyncio.Task[Any]:
        """Create a task that starts in a later iteration of the event loop. Call `ended` with it when it has ended."""
        # Handlers must not inherit the context variables of the code that lets them start. An eager task factory must
        # not run them here (Python 3.12): their queues and requests are not complete yet.
        task = asyncio.Task(coroutine, loop=self._loop, context=self._context.copy())
        self._tasks[task] = ended
        task.add_done_callback(self._ended)
        return task

    def __len__(self) -> int:
        return len(self._tasks)

    def __iter__(self) -> Iterator[asyncio.Task[Any]]:
        """Iterate over a copy, since tasks may end meanwhile."""
        return iter(tuple(self._tasks))

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.pop(task)(task)


def ended_by_ctrl_c() -> None:
    """Keep asyncio from logging the KeyboardInterrupt that ends this task: it also leaves the event loop."""
    task = asyncio.current_task()
    assert task is not None
    task.add_done_callback(lambda ended: ended.cancelled() or ended.exception())


def leave_if_forked(process_id: int, error: BaseException | None = None) -> None:
    """End this process at once if it is a forked child that has come back to the code of its parent.

    Args:
        process_id: the id of the parent.
        error: what the child's code raised, if anything; decides the exit code.
    """
    if os.getpid() == process_id:
        return
    code = 1
    if isinstance(error, SystemExit):
        code = error.code if isinstance(error.code, int) else int(error.code is not None)
    elif error is not None:
        traceback.print_exception(error)
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, OSError, ValueError):  # there may be none
            stream.flush()
    os._exit(code)
