"""Shows frames to the application's `Options.on_frame`, whose mistakes cost a log line and nothing else (rule 30)."""

from __future__ import annotations

from collections.abc import Callable
from logging import getLogger
from time import monotonic
from typing import TypeAlias

from acp_runtime.logs import ThrottledLogger
from acp_runtime.options import Direction, Options

Observe: TypeAlias = Callable[[Direction, bytes], None]

_logger = getLogger(__name__)


def frame_observer(options: Options) -> Observe | None:
    """What is called with each line, without its end; None if nobody wants to see them."""
    on_frame, log = options.on_frame, ThrottledLogger(_logger)
    if on_frame is None:
        return None

    def observe(direction: Direction, line: bytes) -> None:
        try:
            on_frame(direction, line, monotonic())
        except KeyboardInterrupt:
            raise
        # What is no Exception, too (SystemExit, pytest's Failed): it would cost the messages behind this one.
        except BaseException as error:
            log.failed("Options.on_frame", error)

    return observe
