"""How much is being handled, when reading has to pause for it, and when pausing would be a deadlock (rule 18).

Reading pauses above the high-water mark, and only while at least one handler can get on by itself: a handler that
waits for the peer (for an answer, or for a full pipe) needs the reader. Knows nothing of what is handled.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeAlias

from acp_runtime.methods import AnyMethod
from acp_runtime.options import Options

Default: TypeAlias = Callable[[AnyMethod, Any], None]

# What a message of the usual size takes in memory beside its bytes, once it is models: measured with updates.
_MODEL = 2000


class Activity:
    """The handling of one incoming message.

    Attributes:
        waiting: how many calls it is waiting for at the moment.
        done: whether its handler has ended; tasks it started may still run in its context.
        ordered: whether messages behind it wait for its end.
        default: does what happens to a notification that the handler leaves to its base class.
    """

    __slots__ = ("default", "done", "ordered", "waiting")

    def __init__(self, *, ordered: bool, default: Default) -> None:
        self.waiting: int = 0
        self.done: bool = False
        self.ordered: bool = ordered
        self.default: Default = default


activity: ContextVar[Activity | None] = ContextVar("acp_runtime.activity", default=None)


def current_activity() -> Activity | None:
    """The message whose handler is running this code, unless it has ended."""
    found = activity.get()
    return None if found is None or found.done else found


class Flow:
    """Counts incoming messages from their arrival to the end of their handling."""

    def __init__(self, options: Options) -> None:
        self._high = (options.high_water_messages, options.high_water_bytes)
        self._factor = options.flood_factor
        self._messages = 0
        self._bytes = 0
        self._runners = 0
        self._blocked = 0
        self._resumed: asyncio.Future[None] | None = None

    def arrive(self, size: int) -> None:
        """A message has arrived that will be handled."""
        self._messages += 1
        self._bytes += size

    def leave(self, size: int) -> None:
        """A message has been handled, or never will be."""
        self._messages -= 1
        self._bytes -= size
        self._maybe_resume()

    def start_runner(self) -> None:
        """A task that handles messages was created."""
        self._runners += 1

    def end_runner(self) -> None:
        """A task that handles messages has ended."""
        self._runners -= 1
        self._maybe_resume()

    def end_activity(self, which: Activity) -> None:
        """A handler has ended; what it left behind no longer counts as waiting."""
        if which.waiting:
            self._blocked -= 1
        which.done = True

    @contextmanager
    def waiting(self) -> Generator[Activity | None]:
        """Round whatever waits for the peer. Gives the activity that waits, None outside of handlers."""
        which = current_activity()
        if which is None:
            yield None
            return
        which.waiting += 1
        if which.waiting == 1:
            self._blocked += 1
            self._maybe_resume()
        try:
            yield which
        finally:
            which.waiting -= 1
            if not which.waiting and not which.done:
                self._blocked -= 1

    @property
    def must_pause(self) -> bool:
        """Whether too much is being handled, by handlers that can get on without the reader."""
        return self._is_over(1.0) and self._runners > self._blocked

    @property
    def flooded(self) -> bool:
        """Whether the peer sent so much more that the connection has to end."""
        return self._bytes + self._messages * _MODEL >= self._high[1] * self._factor

    async def resumed(self) -> None:
        """Wait until it is time to read again."""
        self._resumed = asyncio.get_running_loop().create_future()
        try:
            await self._resumed
        finally:
            self._resumed = None

    def _is_over(self, factor: float) -> bool:
        return self._messages >= self._high[0] * factor or self._bytes >= self._high[1] * factor

    def _maybe_resume(self) -> None:
        waiter = self._resumed
        if waiter is None or waiter.done():
            return
        # Half of the mark, so that reading doesn't stop and start with every message.
        if not self._is_over(0.5) or self._runners <= self._blocked:
            waiter.set_result(None)
