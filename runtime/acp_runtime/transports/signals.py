"""Handlers of signals that call functions of the event loop: while an agent serves, and while something is closed.

They use `signal.signal`, as `asyncio.run` does itself. `loop.add_signal_handler` can't give back what it replaces.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from threading import current_thread, main_thread

# With so many undelivered signals, the event loop is blocked.
_BLOCKED = 3


@contextmanager
def shutdown_signals(call: Callable[[signal.Signals], object]) -> Generator[None]:
    """Let SIGINT and SIGTERM call a function in the event loop, then put their handlers back.

    If the event loop is blocked, the third signal goes to the handler that was there before.
    """
    with ExitStack() as handlers:
        for number in (signal.SIGINT, signal.SIGTERM):
            if _can_handle(number):
                handlers.enter_context(_Handler(number, call))
        yield


@contextmanager
def interrupts_between_callbacks() -> Generator[None]:
    """While something is closed, let Ctrl-C reach its handler only between two callbacks of the event loop.

    With `asyncio.run`, the second Ctrl-C raises KeyboardInterrupt wherever the program is, then cancels all tasks. If
    that happens inside of asyncio, the task that closes may never continue.
    """
    current: object = signal.getsignal(signal.SIGINT)
    with ExitStack() as handlers:
        if _can_handle(signal.SIGINT) and callable(current):
            handler = _Handler(signal.SIGINT, lambda number: current(number, None))
            handlers.enter_context(current if isinstance(current, _Handler) else handler)
        yield


def _can_handle(number: signal.Signals) -> bool:
    """Return whether this thread gets signals, and the present handler can be put back: it was set from Python."""
    return current_thread() is main_thread() and signal.getsignal(number) is not None


class _Handler:
    """Handles one signal while any `with` block is open.

    Args:
        number: the signal.
        call: called with it in the event loop.
    """

    def __init__(self, number: signal.Signals, call: Callable[[signal.Signals], object]) -> None:
        self._number = number
        self._call = call
        self._loop = asyncio.get_running_loop()
        self._process_id = os.getpid()
        self._previous = signal.getsignal(number)
        self._blocks = self._undelivered = 0

    def __enter__(self) -> None:
        self._blocks += 1
        if self._blocks == 1:
            signal.signal(self._number, self)

    def __exit__(self, *_: object) -> None:
        self._blocks -= 1
        if not self._blocks:
            self._restore()

    def __call__(self, number: int, frame: object) -> None:
        self._undelivered += 1
        if os.getpid() == self._process_id and self._loop.is_running() and self._undelivered < _BLOCKED:
            self._loop.call_soon_threadsafe(self._deliver)
        else:
            self._restore()
            signal.raise_signal(number)

    def _deliver(self) -> None:
        self._undelivered = 0
        try:
            self._call(self._number)
        except BaseException:
            self._restore()  # before it leaves the event loop: `asyncio.run` looks for its own handler then
            raise

    def _restore(self) -> None:
        """Put the previous handler back, unless the application has set another one."""
        current: object = signal.getsignal(self._number)
        if current is self and current_thread() is main_thread():
            signal.signal(self._number, self._previous)
