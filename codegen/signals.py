"""Stops the generator cleanly on a signal: everything is cleaned up, and one line on stderr says so.

Further signals during the clean-up, such as a second Ctrl-C, are ignored, because the clean-up is short.
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
    """A signal has arrived. Not an `Exception`, so that only clean-up code catches it."""


def catch_signals() -> None:
    """Raise `Stopped` at the first signal that would end the process.

    If nothing catches it, the process ends as the signal would have ended it, without a traceback.
    """
    for name in _SIGNALS:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) in _DEFAULTS:
            signal.signal(number, _stop)
    sys.excepthook = _excepthook(sys.excepthook)


def _stop(number: int, _: FrameType | None) -> None:
    for name in _SIGNALS:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    raise Stopped(number)


_Hook = Callable[[type[BaseException], BaseException, TracebackType | None], object]


def _excepthook(original: _Hook) -> _Hook:
    """Return an exception hook that ends the process by the signal, and leaves other exceptions to the original."""

    def end(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
        if not isinstance(error, Stopped):
            original(kind, error, traceback)
            return
        number = signal.Signals(error.args[0])
        print(f"codegen: stopped by {number.name}. Each folder is unchanged or complete.", file=sys.stderr, flush=True)
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    return end
