"""Lets Ctrl-C interrupt the event loop only between two callbacks.

With `asyncio.run`, the second Ctrl-C raises KeyboardInterrupt wherever the program happens to be. Then the event loop
runs again until every task has ended. If the loop had just taken the callback that wakes a task up, that task never
ends. The program hangs, and the subprocess that the task should end keeps running.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable
from threading import current_thread, main_thread
from types import FrameType
from typing import Any

from acp_runtime.connection.forks import abandoned_in_children

_OWN_PACKAGES = ("asyncio", __name__.partition(".")[0])


class SafeInterrupts:
    """During the `with` block, SIGINT is handled between two callbacks, unless it interrupts code of the application.

    Code of the application may block the event loop, so it is interrupted at once. A handler that the application has
    set is left alone. When Python's handler has raised KeyboardInterrupt, the event loop ends, so it is put back.
    """

    def __init__(self) -> None:
        self._handler: _Handler | None = None

    def __enter__(self) -> None:
        # Only the main thread is interrupted by signals.
        if current_thread() is not main_thread():
            return
        loop, current = asyncio.get_running_loop(), signal.getsignal(signal.SIGINT)
        if isinstance(current, _Handler):
            self._handler = current
        elif callable(current) and _is_pythons(current):
            self._handler = _Handler(loop, current)
            signal.signal(signal.SIGINT, self._handler)
        if self._handler is not None:
            self._handler.blocks += 1

    def __exit__(self, *_: object) -> None:
        if self._handler is not None:
            self._handler.blocks -= 1
            if not self._handler.blocks:
                self._handler.restore()


class _Handler:
    """Handles SIGINT while any `with` block is open.

    Args:
        loop: the event loop of the main thread.
        previous: the handler to call.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, previous: Callable[[int, FrameType | None], Any]) -> None:
        self.blocks = 0
        self._loop = loop
        self._previous = previous
        self._main: asyncio.Task[Any] | None = getattr(previous, "keywords", {}).get("main_task")
        self._waiting = 0
        abandoned_in_children(self)

    def __call__(self, _: int, frame: FrameType | None) -> None:
        self._waiting += 1
        if self._loop.is_running() and not _is_in_application(frame):
            self._loop.call_soon_threadsafe(self._call_in_loop)
        else:
            self._call()

    def restore(self) -> None:
        """Put the previous handler back, unless the application has set another one."""
        current: object = signal.getsignal(signal.SIGINT)
        if current is self and current_thread() is main_thread():
            signal.signal(signal.SIGINT, self._previous)

    def abandon(self) -> None:
        """Put the previous handler back in a forked child, which doesn't run the event loop."""
        self.restore()

    def _call_in_loop(self) -> None:
        """Call the previous handler.

        If `asyncio.run`'s task has ended, its next callback stops the loop. An exception must not come before that:
        the callback would then stop the loop when `asyncio.run` closes it.
        """
        if self._main is not None and self._main.done():
            self._loop.call_soon(self._call)
        else:
            self._call()

    def _call(self) -> None:
        """Call the previous handler for each signal that waits."""
        while self._waiting:
            self._waiting -= 1
            try:
                self._previous(signal.SIGINT, None)
            except BaseException:
                self.restore()
                raise


def _is_pythons(handler: Callable[..., object]) -> bool:
    """Return whether a handler is Python's, or the one of `asyncio.run`, which is a `functools.partial`."""
    function = getattr(handler, "func", None)
    return handler is signal.default_int_handler or getattr(function, "__module__", None) == "asyncio.runners"


def _is_in_application(frame: FrameType | None) -> bool:
    """Return whether the application's code is running, maybe in a function of the standard library that it calls."""
    while frame is not None:
        name = str(frame.f_globals.get("__name__"))
        package = name.partition(".")[0]
        if package in _OWN_PACKAGES:
            return False
        # The methods that the standard library makes for a named tuple are in a module that nobody can import.
        if package not in sys.stdlib_module_names and name in sys.modules:
            return True
        frame = frame.f_back
    return False
