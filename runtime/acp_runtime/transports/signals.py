"""SIGINT and SIGTERM: taken over while an agent serves, and kept waiting while a process is being started or ended."""

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
    """SIGINT and SIGTERM call a function in the event loop while the block lasts; then whoever had them has them again.

    Handlers of Python are used rather than `loop.add_signal_handler`, for three reasons: what was there before can be
    put back, a loop that is blocked by a handler can still be interrupted, and a signal that a forked child gets can't
    be taken for one of this process: on Python 3.11 a child writes its signals into its parent's wake-up descriptor.

    Args:
        call: called with the signal and how many there have been.
    """

    def __init__(self, call: Callable[[signal.Signals, int], None]) -> None:
        self._call = call
        self._count = 0
        self._loop = asyncio.get_running_loop()
        self._before: dict[signal.Signals, _Handler] = {}
        self._wake_up = _WakeUp(self._loop)

    def __enter__(self) -> None:
        # Only the main thread is interrupted by signals.
        if current_thread() is not main_thread():
            return
        abandoned_in_children(self)
        self._wake_up.open()
        for number in (signal.SIGINT, signal.SIGTERM):
            before = signal.getsignal(number)
            if before is not None:  # Set by something that isn't Python, which can't be put back.
                self._before[number] = before
                signal.signal(number, self._received)
                if sys.platform != "win32":
                    signal.siginterrupt(number, False)

    def __exit__(self, *_: object) -> None:
        self._put_back()
        self._wake_up.close()

    def abandon(self) -> None:
        """Let a forked child have the handlers that this process had before, so that SIGTERM ends the child."""
        signal.set_wakeup_fd(-1)
        self._put_back()
        self._wake_up.abandon()

    def _put_back(self) -> None:
        for number, before in self._before.items():
            # Unless the application has set another one meanwhile.
            if signal.getsignal(number) == self._received:
                signal.signal(number, before)
        self._before.clear()

    def _received(self, number: int, frame: FrameType | None) -> None:
        self._count += 1
        self._loop.call_soon_threadsafe(self._call, signal.Signals(number), self._count)
        before = self._before.get(signal.Signals(number))
        if number == signal.SIGINT and self._count > 2 and callable(before):
            # The loop is blocked, or closing hangs.
            before(number, frame)


class _WakeUp:
    """Ends the loop's wait when a signal comes: the handler might have run just before the wait began."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._ends: tuple[socket.socket, socket.socket] | None = None

    def open(self) -> None:
        # Elsewhere the loop has one of its own.
        if sys.platform == "win32":
            return
        with suppress(OSError, NotImplementedError):
            reader, writer = self._ends = socket.socketpair()
            reader.setblocking(False)
            writer.setblocking(False)
            self._loop.add_reader(reader, self._drain)
            before = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
            if before != -1:
                # The loop's own, since the application handles signals in it. That does as well.
                signal.set_wakeup_fd(before)

    def close(self) -> None:
        if self._ends is None:
            return
        reader, writer = self._ends
        now = signal.set_wakeup_fd(-1)
        if now != writer.fileno():
            signal.set_wakeup_fd(now)
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
    """A Ctrl-C that comes while the block lasts is handled after it. Gives the list of those that have come.

    Without this, KeyboardInterrupt could be raised between the start of a process and the moment that it is known.
    """
    came: list[tuple[int, FrameType | None]] = []
    before = signal.getsignal(signal.SIGINT)
    if current_thread() is not main_thread() or not callable(before):
        yield came
        return
    signal.signal(signal.SIGINT, lambda number, frame: came.append((number, frame)))
    try:
        yield came
    finally:
        signal.signal(signal.SIGINT, before)
        for number, frame in came:
            before(number, frame)
