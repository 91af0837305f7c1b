"""How much is being handled and how much waits: when requests and reading have to wait (rule 18).

* What runs never stops the reader, however large it is.
* Requests beyond the high-water mark wait, unstarted, as the bytes they came in, unless all that run await the peer.
* Reading pauses while too much *waits*: requests, and notifications behind others of their session. What waits for a
  handler that awaits the peer doesn't count, since the peer's answer may come behind what is not read.
* Far beyond the mark the connection closes.

Knows nothing of what is handled.
"""

from __future__ import annotations

from collections.abc import Callable

from acp_runtime.connection.in_flight import InFlightMessage, QueueLoad, current
from acp_runtime.options import Options

# What a message of the usual size takes in memory beside its bytes, once it is models: measured with updates.
_MODEL_BYTES = 2000
# A large request that runs counts for this part of the mark, so that it doesn't hold up the requests of others.
_REQUEST_PART = 16
# What waits is kept as models up to this part of the mark: they can take ten times the memory of their lines.
_MODEL_PART = 8


class Backpressure:
    """Counts incoming messages from their arrival to the end of their handlers.

    Args:
        options: the marks.
        on_resume: called when reading may have paused and can go on.

    Attributes:
        is_crowded: whether so much waits that what comes is to be kept as the bytes it came in.
        on_all_blocked: called when requests wait and all that run await the peer, so that one more may start.
    """

    def __init__(self, options: Options, on_resume: Callable[[], None]) -> None:
        self._high_water_messages = options.high_water_messages
        self._high_water_bytes = options.high_water_bytes
        self._max_model_bytes = options.high_water_bytes // _MODEL_PART
        self._max_request_weight = max(1, options.high_water_bytes // _REQUEST_PART)
        self._flood_bytes = options.high_water_bytes * options.flood_factor
        self._on_resume = on_resume
        self._messages = 0
        self._weight = 0
        self._waiting = 0
        self._waiting_weight = 0
        self._exempt = 0
        self._exempt_weight = 0
        self._waiting_requests = QueueLoad()
        self._requests = 0
        self._requests_weight = 0
        self._blocked_requests = 0
        self._handlers = 0
        self._blocked = 0
        self._paused = False
        self.is_crowded: bool = False
        self.on_all_blocked: Callable[[], None] = _nothing

    def may_start(self, size: int) -> bool:
        """Whether the handler of a request of `size` bytes may start now."""
        # If all that run await the peer, it may be for the answer to this one.
        return self._blocked_requests >= self._requests or (
            self._requests < self._high_water_messages
            and self._requests_weight < self._high_water_bytes
            and 2 * (self._weight + size) < self._flood_bytes
        )

    def start_request(self, message: InFlightMessage, size: int) -> None:
        """The handler of a request of `size` bytes starts."""
        message.weight = weight = size + _MODEL_BYTES
        self._messages += 1
        self._weight += weight
        self._requests += 1
        self._requests_weight += min(weight, self._max_request_weight)
        self._handlers += 1
        if self._waiting_requests.count:
            self._update_requests()

    def end_request(self, message: InFlightMessage) -> None:
        """The handler of a request has ended."""
        self._requests -= 1
        self._requests_weight -= min(message.weight, self._max_request_weight)
        self._handlers -= 1
        self.end(message)
        if self._waiting_requests.count:
            self._update_requests()

    def add_waiting(self, size: int) -> None:
        """A message waits as the `size` bytes it came in."""
        self._change_waiting(1, size)

    def remove_waiting(self, size: int) -> None:
        """A message of `size` bytes that was put off is no longer waiting."""
        self._change_waiting(-1, -size)

    def enqueue(self, message: InFlightMessage, size: int, queue: QueueLoad) -> None:
        """A notification of `size` bytes waits in the queue of its session."""
        message.queue = queue
        message.weight = weight = size + _MODEL_BYTES
        self._messages += 1
        self._weight += weight
        queue.count += 1
        queue.weight += weight
        self._waiting += 1
        self._waiting_weight += weight
        if queue.exemptions:
            self._exempt += 1
            self._exempt_weight += weight
        if self._waiting >= self._high_water_messages or self._waiting_weight >= self._max_model_bytes:
            self.is_crowded = True

    def start(self, message: InFlightMessage) -> None:
        """The handler of a notification starts."""
        queue, weight = message.queue, message.weight
        queue.count -= 1
        queue.weight -= weight
        self._waiting -= 1
        self._waiting_weight -= weight
        if queue.exemptions:
            self._exempt -= 1
            self._exempt_weight -= weight
        if self.is_crowded or self._paused:
            self._update_crowded()

    def end(self, message: InFlightMessage) -> None:
        """The handler of a message has ended."""
        self._messages -= 1
        self._weight -= message.weight
        if message.waiting:
            self._unblock(message)  # what the handler left behind no longer counts
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

    def exempt(self, queue: QueueLoad) -> None:
        """What waits here may wait for something that is not read yet."""
        queue.exemptions += 1
        if queue.exemptions == 1:
            self._exempt += queue.count
            self._exempt_weight += queue.weight
            if self._paused:
                self._maybe_resume()

    def end_exemption(self, queue: QueueLoad) -> None:
        """One reason for that has gone."""
        queue.exemptions -= 1
        if not queue.exemptions:
            self._exempt -= queue.count
            self._exempt_weight -= queue.weight

    def begin_wait(self) -> InFlightMessage | None:
        """Somebody begins to wait for the peer. Gives the message whose handler that is; None outside of handlers."""
        message = current.get()
        if message is None or message.done:
            return None
        message.waiting += 1
        if message.waiting == 1:
            self._blocked += 1
            if message.ordered:
                self.exempt(message.queue)
            else:
                self._blocked_requests += 1
                if self._waiting_requests.count:
                    self._update_requests()
        return message

    def end_wait(self, message: InFlightMessage | None) -> None:
        """What `wait` gave no longer waits."""
        if message is not None:
            message.waiting -= 1
            if not message.waiting and not message.done:
                self._unblock(message)

    def must_pause(self) -> bool:
        """Whether to stop reading. If so `on_resume` is called when that has changed."""
        self._paused = (
            self._waiting - self._exempt >= self._high_water_messages
            or self._waiting_weight - self._exempt_weight >= self._high_water_bytes
        )
        return self._paused

    @property
    def is_flooded(self) -> bool:
        """Whether the peer sent so much that the connection has to end. One message alone is no flood."""
        return self._weight >= self._flood_bytes and self._messages > 1

    @property
    def load(self) -> tuple[int, int, int, int]:
        """Messages, their weight, handlers, and those of them that await the peer."""
        return self._messages, self._weight, self._handlers, self._blocked

    def _change_waiting(self, count: int, size: int) -> None:
        """So many requests more (or fewer) wait."""
        queue = self._waiting_requests
        self._messages += count
        self._weight += size
        queue.count += count
        queue.weight += size
        self._waiting += count
        self._waiting_weight += size
        if queue.exemptions:
            self._exempt += count
            self._exempt_weight += size
        self._update_requests()
        self._update_crowded()

    def _update_crowded(self) -> None:
        self.is_crowded = self._waiting >= self._high_water_messages or self._waiting_weight >= self._max_model_bytes
        if self._paused:
            self._maybe_resume()

    def _update_requests(self) -> None:
        """Requests wait for any of those that run: there is no hope if all of these await the peer."""
        queue, blocked = self._waiting_requests, 0 < self._requests <= self._blocked_requests
        if blocked and not queue.exemptions:
            self.exempt(queue)
        elif queue.exemptions and not blocked:
            self.end_exemption(queue)
        if blocked and queue.count:
            self.on_all_blocked()

    def _unblock(self, message: InFlightMessage) -> None:
        self._blocked -= 1
        if message.ordered:
            self.end_exemption(message.queue)
        else:
            self._blocked_requests -= 1
            if self._waiting_requests.count:
                self._update_requests()

    def _maybe_resume(self) -> None:
        # Half of the mark, so that reading doesn't stop and start with every message.
        waiting, weight = self._waiting - self._exempt, self._waiting_weight - self._exempt_weight
        if 2 * waiting < self._high_water_messages and 2 * weight < self._high_water_bytes:
            self._paused = False
            self._on_resume()


def _nothing() -> None:
    """Nobody asks yet."""
