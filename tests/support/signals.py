"""Signals that the processes of tests inherit, and that tests send."""

from __future__ import annotations

import signal
import subprocess
from contextlib import suppress


def stop_ignoring_sigint() -> None:
    """Let SIGINT interrupt the processes that tests start. A shell makes its background commands ignore it."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def interrupt(process: subprocess.Popen[str]) -> int:
    """Send SIGINT to a program that uses `asyncio.run`, and return its exit code.

    A signal that comes just before the event loop begins to wait is handled only when something ends the wait
    (`asyncio.run` sets no wakeup descriptor). To be stopped and continued ends it, see signal(7).
    """
    process.send_signal(signal.SIGINT)
    while True:
        with suppress(subprocess.TimeoutExpired):
            return process.wait(1)
        process.send_signal(signal.SIGSTOP)
        process.send_signal(signal.SIGCONT)
