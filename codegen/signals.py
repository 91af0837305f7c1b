"""Being stopped by a signal: whatever was begun is cleaned up, and a sentence says so.

Signals that come during the clean-up, such as a second Ctrl-C, are ignored: it takes no time worth interrupting.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from types import FrameType, TracebackType

_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")
_DEFAULTS = (signal.SIG_DFL, signal.default_int_handler)


class Stopped(BaseException):
    """A signal came. Not an `Exception`, so that only what cleans up sees it."""


def catch_signals() -> None:
    """From here on a signal that would end the process raises `Stopped` instead, once.

    Nobody has to catch it: it ends the process as the signal would have, without a traceback.
    """
    for name in _SIGNALS:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) in _DEFAULTS:
            signal.signal(number, _stop)
    sys.excepthook = _ending_with(sys.excepthook)


def _stop(number: int, _: FrameType | None) -> None:
    for name in _SIGNALS:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    raise Stopped(number)


_Hook = Callable[[type[BaseException], BaseException, TracebackType | None], object]


def _ending_with(otherwise: _Hook) -> _Hook:
    """What to do with an exception that nobody caught."""

    def end(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
        if not isinstance(error, Stopped):
            otherwise(kind, error, traceback)
            return
        number = signal.Signals(error.args[0])
        print(f"codegen: stopped by {number.name}. Everything is as it was, or complete.", file=sys.stderr, flush=True)
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    return end
