"""Handles SIGINT and SIGTERM while an agent serves, and defers SIGINT while a process is started or ended."""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from threading import current_thread, main_thread
from types import FrameType
from typing import Any

from acp_runtime.connection.forks import abandoned_in_children

_Handler = Callable[[int, FrameType | None], Any] | int | None


class ShutdownSignals:
    """Makes SIGINT and SIGTERM call a function in the event loop during the `with` block, then restores their handlers.

    It uses `signal.signal` rather than `loop.add_signal_handler`, for three reasons: the previous handlers can be
    restored; a loop that a handler blocks can still be interrupted; and a signal to a forked child isn't mistaken for
    one to this process (on Python 3.11 a child writes its signals to its parent's wake-up descriptor).

    Args:
        call: called with the signal and the number of signals so far.
    """

    def __init__(self, call: Callable[[signal.Signals, int], None]) -> None:
        self._call = call
        self._count = 0
        self._loop = asyncio.get_running_loop()
        self._previous: dict[signal.Signals, _Handler] = {}
        self._wake_up = _WakeUp(self._loop)

    def __enter__(self) -> None:
        # Only the main thread is interrupted by signals.
        if current_thread() is not main_thread():
            return
        abandoned_in_children(self)
        self._wake_up.open()
        for number in (signal.SIGINT, signal.SIGTERM):
            previous = signal.getsignal(number)
            if previous is not None:  # None: a handler that was not set from Python, and can't be restored
                self._previous[number] = previous
                signal.signal(number, self._received)
                if sys.platform != "win32":
                    signal.siginterrupt(number, False)

    def __exit__(self, *_: object) -> None:
        self._restore()
        self._wake_up.close()

    def abandon(self) -> None:
        """Restore the previous handlers in a forked child, so that SIGTERM ends the child."""
        signal.set_wakeup_fd(-1)
        self._restore()
        self._wake_up.abandon()

    def _restore(self) -> None:
        for number, previous in self._previous.items():
            # Keep a handler that the application has set in the meantime.
            if signal.getsignal(number) == self._received:
                signal.signal(number, previous)
        self._previous.clear()

    def _received(self, number: int, frame: FrameType | None) -> None:
        self._count += 1
        self._loop.call_soon_threadsafe(self._call, signal.Signals(number), self._count)
        previous = self._previous.get(signal.Signals(number))
        if number == signal.SIGINT and self._count > 2 and callable(previous):
            # The event loop is blocked, or closing hangs.
            previous(number, frame)


class _WakeUp:
    """Wakes up the event loop on a signal, in case the signal handler ran just before the loop began to wait."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._ends: tuple[socket.socket, socket.socket] | None = None

    def open(self) -> None:
        # On Windows, asyncio's loop sets a wake-up descriptor itself.
        if sys.platform == "win32":
            return
        with suppress(OSError, NotImplementedError):
            reader, writer = self._ends = socket.socketpair()
            reader.setblocking(False)
            writer.setblocking(False)
            self._loop.add_reader(reader, self._drain)
            previous = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
            if previous != -1:
                # The loop has a wake-up descriptor already, because the application uses `add_signal_handler`.
                signal.set_wakeup_fd(previous)

    def close(self) -> None:
        if self._ends is None:
            return
        reader, writer = self._ends
        current = signal.set_wakeup_fd(-1)
        if current != writer.fileno():
            signal.set_wakeup_fd(current)
        self._loop.remove_reader(reader)
        self.abandon()

    def abandon(self) -> None:
        if self._ends is not None:
            for end in self._ends:
                end.close()
            self._ends = None

    def _drain(self) -> None:
        with suppress(OSError):
            if self._ends is not None:
                self._ends[0].recv(4096)


@contextmanager
def deferred_interrupts() -> Generator[Sequence[object]]:
    """Defer SIGINT until the end of the `with` block. Yields the list of deferred signals.

    Without this, KeyboardInterrupt could be raised after a process has started and before it is registered.
    """
    deferred: list[tuple[int, FrameType | None]] = []
    previous = signal.getsignal(signal.SIGINT)
    if current_thread() is not main_thread() or not callable(previous):
        yield deferred
        return
    signal.signal(signal.SIGINT, lambda number, frame: deferred.append((number, frame)))
    try:
        yield deferred
    finally:
        signal.signal(signal.SIGINT, previous)
        for number, frame in deferred:
            previous(number, frame)
