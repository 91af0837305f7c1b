"""Signals that the processes of tests inherit."""

from __future__ import annotations

import signal


def stop_ignoring_sigint() -> None:
    """Let SIGINT interrupt the processes that tests start. A shell makes its background commands ignore it."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
