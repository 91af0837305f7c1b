"""How much is being handled and how much waits: when requests and reading have to wait (rule 18).

* What runs never stops the reader, however large it is.
* Requests beyond the high-water mark wait, unstarted, as the bytes they came in.
* Reading pauses while too much *waits*: requests, and notifications behind others of their session. It goes on if all
  handlers await the peer, since their answers come behind what is not read.
* Far beyond the mark the connection closes.

Knows nothing of what is handled.
"""

from __future__ import annotations

from collections.abc import Callable

from acp_runtime.connection.in_flight import InFlightMessage, current_message
from acp_runtime.options import Options

# What a message of the usual size takes in memory beside its bytes, once it is models: measured with updates.
_MODEL = 2000
# A large request that runs counts for this part of the mark, so that it doesn't hold up the requests of others.
_PART = 16


class Backpressure:
    """Counts incoming messages from their arrival to the end of their handlers.

    Args:
        options: the marks.
        on_room: called when reading may have paused and can go on.

    Attributes:
        is_over: whether too much waits.
    """

    def __init__(self, options: Options, on_room: Callable[[], None]) -> None:
        self._most = options.high_water_messages
        self._heaviest = options.high_water_bytes
        self._largest = max(1, options.high_water_bytes // _PART)
        self._limit = options.high_water_bytes * options.flood_factor
        self._on_room = on_room
        self._messages = 0
        self._weight = 0
        self._waiting = 0
        self._waiting_weight = 0
        self._requests = 0
        self._requests_weight = 0
        self._handlers = 0
        self._blocked = 0
        self._paused = False
        self.is_over: bool = False

    def may_start(self, size: int) -> bool:
        """Whether the handler of a request of `size` bytes may start now."""
        return self._requests == 0 or (
            self._requests < self._most
            and self._requests_weight < self._heaviest
            and 2 * (self._weight + size) < self._limit
        )

    def start_request(self, message: InFlightMessage, size: int) -> None:
        """The handler of a request of `size` bytes starts."""
        message.weight = weight = size + _MODEL
        self._messages += 1
        self._weight += weight
        self._requests += 1
        self._requests_weight += min(weight, self._largest)
        self._handlers += 1

    def end_request(self, message: InFlightMessage) -> None:
        """The handler of a request has ended."""
        self._requests -= 1
        self._requests_weight -= min(message.weight, self._largest)
        self._handlers -= 1
        self.end(message)

    def put_off(self, size: int) -> None:
        """A message waits as the `size` bytes it came in."""
        self._messages += 1
        self._weight += size
        self._waiting += 1
        self._waiting_weight += size
        self._look()

    def take_up(self, size: int) -> None:
        """A message of `size` bytes that was put off is no longer waiting."""
        self._messages -= 1
        self._weight -= size
        self._waiting -= 1
        self._waiting_weight -= size
        if self.is_over:
            self._look()

    def enqueue(self, message: InFlightMessage, size: int) -> None:
        """A notification of `size` bytes waits in the queue of its session."""
        message.weight = weight = size + _MODEL
        self._messages += 1
        self._weight += weight
        self._waiting += 1
        self._waiting_weight += weight
        if self._waiting >= self._most or self._waiting_weight >= self._heaviest:
            self.is_over = True

    def start(self, message: InFlightMessage) -> None:
        """The handler of a notification starts."""
        self._waiting -= 1
        self._waiting_weight -= message.weight
        if self.is_over or self._paused:
            self._look()

    def end(self, message: InFlightMessage) -> None:
        """The handler of a message has ended."""
        self._messages -= 1
        self._weight -= message.weight
        if message.waiting:
            self._blocked -= 1  # what the handler left behind no longer counts
        message.done = True
        if self._paused:
            self._maybe_resume()

    def discard(self, message: InFlightMessage) -> None:
        """A notification will not be handled."""
        self.start(message)
        self.end(message)

    def open_queue(self) -> None:
        """A task handles the notifications of a session."""
        self._handlers += 1

    def close_queue(self) -> None:
        """It has ended."""
        self._handlers -= 1
        if self._paused:
            self._maybe_resume()

    def wait(self) -> InFlightMessage | None:
        """Somebody begins to wait for the peer. Gives the message whose handler that is; None outside of handlers."""
        message = current_message()
        if message is not None:
            message.waiting += 1
            if message.waiting == 1:
                self._blocked += 1
                if self._paused:
                    self._maybe_resume()
        return message

    def end_wait(self, message: InFlightMessage | None) -> None:
        """What `wait` gave no longer waits."""
        if message is not None:
            message.waiting -= 1
            if not message.waiting and not message.done:
                self._blocked -= 1

    def pause(self) -> bool:
        """Whether to stop reading. If so `on_room` is called when that has changed."""
        self._paused = self.is_over and self._handlers > self._blocked
        return self._paused

    @property
    def flooded(self) -> bool:
        """Whether the peer sent so much that the connection has to end. One message alone is no flood."""
        return self._weight >= self._limit and self._messages > 1

    @property
    def load(self) -> tuple[int, int, int, int]:
        """Messages, their weight, handlers, and those of them that await the peer."""
        return self._messages, self._weight, self._handlers, self._blocked

    def _look(self) -> None:
        self.is_over = self._waiting >= self._most or self._waiting_weight >= self._heaviest
        if self._paused:
            self._maybe_resume()

    def _maybe_resume(self) -> None:
        # Half of the mark, so that reading doesn't stop and start with every message.
        roomy = 2 * self._waiting < self._most and 2 * self._waiting_weight < self._heaviest
        if roomy or self._handlers <= self._blocked:
            self._paused = False
            self._on_room()
