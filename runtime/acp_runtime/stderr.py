"""What a subprocess writes to its stderr: always taken, its tail kept, and handed on where the options say."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from logging import getLogger
from pathlib import Path
from typing import IO, Any, Self

from acp_runtime.options import Options

_logger = getLogger(__name__)


class Stderr:
    """The receiver of a subprocess's stderr.

    Args:
        options: where it goes, and how much of it is kept.

    Raises:
        OSError: if the file can't be opened; names it.

    Attributes:
        tail: the last bytes of it.
        over: done when nothing more comes.
    """

    def __init__(self, options: Options) -> None:
        self._kept = options.stderr_tail
        self._file: IO[bytes] | None = None
        self._put: Callable[[bytes], Any] | None = None
        if isinstance(options.stderr, Path):
            self._file = options.stderr.open("ab", buffering=0)
            self._put = self._file.write
        elif callable(options.stderr):
            self._put = options.stderr
        self.tail: bytearray = bytearray()
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def received(self, data: bytes, /) -> None:
        """Keep and hand on some bytes."""
        self.tail += data
        del self.tail[: -self._kept]
        if self._put is None:
            return
        try:
            self._put(data)
        except Exception:
            # The agent must not be stopped by a full pipe, whatever happens here.
            _logger.exception("Handing on the agent's stderr failed; the rest of it is not handed on.")
            self._put = None

    def ended(self, error: OSError | None, /) -> None:
        """That was all."""
        if not self.over.done():
            self.over.set_result(None)
