"""Calls `Options.on_frame`, which may raise anything."""

from __future__ import annotations

from collections.abc import Callable
from logging import getLogger
from time import monotonic

from acp_runtime.logs import ThrottledLogger
from acp_runtime.options import Direction, Options

_logger = getLogger(__name__)


def frame_observer(options: Options) -> Callable[[Direction, bytes], None] | None:
    """Return the function that calls `Options.on_frame` with each line; None if there is none.

    An exception in it is logged and has no other effect (rule 30).
    """
    on_frame, log = options.on_frame, ThrottledLogger(_logger)
    if on_frame is None:
        return None

    def observe(direction: Direction, line: bytes) -> None:
        try:
            on_frame(direction, line, monotonic())
        except KeyboardInterrupt:
            raise
        # SystemExit and pytest's Failed, too: otherwise the messages behind this one would be lost.
        except BaseException as error:
            log.failed("Options.on_frame", error)

    return observe
