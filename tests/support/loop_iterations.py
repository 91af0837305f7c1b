"""Counts the iterations of the event loop, in which other tasks run, instead of measuring time."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from contextlib import contextmanager


class Iterations:
    """The iterations of the running loop since this was created.

    Attributes:
        count: how many there were.
    """

    def __init__(self) -> None:
        self.count = 0
        self._next()

    def stop(self) -> None:
        self._handle.cancel()

    def _next(self) -> None:
        self.count += 1
        self._handle = asyncio.get_running_loop().call_soon(self._next)


@contextmanager
def count_iterations() -> Generator[Iterations]:
    """Count as long as the block runs."""
    iterations = Iterations()
    try:
        yield iterations
    finally:
        iterations.stop()
