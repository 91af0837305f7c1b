"""How much is being handled, when reading has to pause for it, and when pausing would be a deadlock (rule 18).

Reading pauses above the high-water mark, and only while at least one handler can get on by itself: a handler that
waits for the peer (for an answer, or for a full pipe) needs the reader. Knows nothing of what is handled.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, ClassVar, TypeAlias

from acp_runtime.methods import AnyMethod
from acp_runtime.options import Options

Default: TypeAlias = Callable[[AnyMethod, Any], None]

# What a message of the usual size takes in memory beside its bytes, once it is models: measured with updates.
_MODEL = 2000


class Activity:
    """The handling of one incoming message.

    Attributes:
        weight: what the message takes in memory, in bytes.
        waiting: how many calls it is waiting for at the moment.
        done: whether its handler has ended; tasks it started may still run in its context.
        ordered: whether messages behind it wait for its end.
        default: does what happens to a notification that the handler leaves to its base class.
    """

    __slots__ = ("default", "done", "waiting", "weight")

    weight: int
    waiting: int
    done: bool
    ordered: ClassVar[bool]
    default: Default


activity: ContextVar[Activity | None] = ContextVar("acp_runtime.activity", default=None)


def current_activity() -> Activity | None:
    """The message whose handler is running this code, unless it has ended."""
    found = activity.get()
    return None if found is None or found.done else found


class Flow:
    """Counts incoming messages from their arrival to the end of their handling.

    Args:
        options: the marks.
        on_room: called when reading may have paused and can go on.
    """

    def __init__(self, options: Options, on_room: Callable[[], None]) -> None:
        self._most = options.high_water_messages
        self._heaviest = options.high_water_bytes
        self._factor = options.flood_factor
        self._on_room = on_room
        self._messages = 0
        self._weight = 0
        self._runners = 0
        self._blocked = 0
        self._paused = False

    def arrive(self, which: Activity, size: int) -> bool:
        """A message of `size` bytes has arrived that will be handled. Whether the high-water mark is reached."""
        which.waiting = 0
        which.done = False
        which.weight = weight = size + _MODEL
        self._messages += 1
        self._weight += weight
        return self._messages >= self._most or self._weight >= self._heaviest

    def leave(self, which: Activity) -> None:
        """A message has been handled; what its handler left behind no longer counts as waiting."""
        self._messages -= 1
        self._weight -= which.weight
        if which.waiting:
            self._blocked -= 1
        which.done = True
        if self._paused:
            self._maybe_resume()

    def start_runner(self) -> None:
        """A task that handles messages was created."""
        self._runners += 1

    def end_runner(self) -> None:
        """A task that handles messages has ended."""
        self._runners -= 1
        if self._paused:
            self._maybe_resume()

    def wait(self) -> Activity | None:
        """Somebody begins to wait for the peer. Gives the activity that does, None outside of handlers."""
        which = current_activity()
        if which is not None:
            which.waiting += 1
            if which.waiting == 1:
                self._blocked += 1
                if self._paused:
                    self._maybe_resume()
        return which

    def end_wait(self, which: Activity | None) -> None:
        """What `wait` gave has got what it waited for."""
        if which is not None:
            which.waiting -= 1
            if not which.waiting and not which.done:
                self._blocked -= 1

    @property
    def is_over(self) -> bool:
        """Whether the high-water mark is reached."""
        return self._messages >= self._most or self._weight >= self._heaviest

    def pause(self) -> bool:
        """Whether to stop reading: too much is being handled, by handlers that can get on without the reader.

        If so `on_room` is called when that has changed.
        """
        self._paused = self.is_over and self._runners > self._blocked
        return self._paused

    @property
    def flooded(self) -> bool:
        """Whether the peer sent so much more that the connection has to end."""
        return self._weight >= self._heaviest * self._factor

    def _maybe_resume(self) -> None:
        # Half of the mark, so that reading doesn't stop and start with every message.
        roomy = 2 * self._messages < self._most and 2 * self._weight < self._heaviest
        if roomy or self._runners <= self._blocked:
            self._paused = False
            self._on_room()
