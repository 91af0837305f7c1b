"""The running event loop: lets other tasks run, counts its iterations instead of measuring time, moves its clock."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any


async def let_others_run(number: int) -> None:
    """Let other tasks run for this many iterations of the event loop."""
    for _ in range(number):
        await asyncio.sleep(0)


def let_pass(seconds: float) -> None:
    """Let the clock of the running event loop jump ahead, so that deadlines pass without waiting."""
    loop = asyncio.get_running_loop()
    clock = loop.time
    loop.time = lambda: clock() + seconds  # type: ignore[method-assign]


async def wait_until(condition: Callable[[], bool], describe: Callable[[], Any]) -> None:
    """Wait until a condition holds, for at most 20,000 iterations of the event loop."""
    for _ in range(20_000):
        if condition():
            return
        await asyncio.sleep(0)
    raise AssertionError(describe())


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
