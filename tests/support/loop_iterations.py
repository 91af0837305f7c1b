"""Counts how often the event loop gives other tasks their turn, instead of measuring time."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from contextlib import contextmanager


class Turns:
    """The turns of the running loop since it was created.

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
def counting_turns() -> Generator[Turns]:
    """Count as long as the block runs."""
    turns = Turns()
    try:
        yield turns
    finally:
        turns.stop()
