"""Backpressure: counts messages in flight and waiting messages, to pause reading and delay requests (rule 18).

* Messages in flight never pause reading, however large they are.
* Requests beyond the high-water mark wait, unstarted, as lines, unless every running handler awaits the peer.
* Reading pauses while too much *waits*: requests, and notifications behind others of their session. Messages that wait
  for a handler which awaits the peer don't count, because the peer's response may come behind unread lines.
* Far beyond the mark the connection closes.
"""

from __future__ import annotations

from collections.abc import Callable

from acp_runtime.connection.in_flight import InFlightMessage, InFlightNotification, QueueLoad, current
from acp_runtime.options import Options

# A running request counts for at most this part of the high-water mark, so that a large one doesn't stop the others.
_REQUEST_PART = 16
# Beyond this part of the mark notifications wait as lines: models can take ten times the memory.
_MODEL_PART = 8


class Backpressure:
    """Counts incoming messages from their arrival to the end of their handlers.

    Args:
        options: the high-water marks.
        on_resume: called when reading was paused and may continue.
        on_all_blocked: called when requests wait and every running handler awaits the peer: one more may start.

    Attributes:
        is_crowded: whether so much waits that notifications are to be kept as lines.
    """

    def __init__(self, options: Options, on_resume: Callable[[], None], on_all_blocked: Callable[[], None]) -> None:
        self._high_water_messages = options.high_water_messages
        self._high_water_bytes = options.high_water_bytes
        self._max_model_bytes = options.high_water_bytes // _MODEL_PART
        self._max_request_weight = max(1, options.high_water_bytes // _REQUEST_PART)
        self._flood_bytes = options.high_water_bytes * options.flood_factor
        self._on_resume = on_resume
        self._on_all_blocked = on_all_blocked
        # All messages; of these, those that wait; and of these, those that don't pause reading.
        self._messages = 0
        self._weight = 0
        self._waiting = 0
        self._waiting_weight = 0
        self._exempt = 0
        self._exempt_weight = 0
        self._waiting_requests = QueueLoad()
        self._running_requests = 0
        self._running_requests_weight = 0
        self._blocked_requests = 0
        self._handlers = 0
        self._blocked = 0
        self._paused = False
        self.is_crowded: bool = False

    def may_start(self, size: int) -> bool:
        """Whether the handler of a request of `size` bytes may start now."""
        # If every running handler awaits the peer, it may be for the response to this request.
        return self._blocked_requests >= self._running_requests or (
            self._running_requests < self._high_water_messages
            and self._running_requests_weight < self._high_water_bytes
            and 2 * (self._weight + size) < self._flood_bytes
        )

    def start_request(self, message: InFlightMessage) -> None:
        """Count a request whose handler starts."""
        weight = message.weight
        self._messages += 1
        self._weight += weight
        self._running_requests += 1
        self._running_requests_weight += min(weight, self._max_request_weight)
        self._handlers += 1
        if self._waiting_requests.count:
            self._update_requests()

    def end_request(self, message: InFlightMessage) -> None:
        """Stop counting a request: its handler has ended."""
        self._running_requests -= 1
        self._running_requests_weight -= min(message.weight, self._max_request_weight)
        self._handlers -= 1
        self.end(message)
        if self._waiting_requests.count:
            self._update_requests()

    def add_waiting(self, size: int) -> None:
        """Count a line of `size` bytes that waits to be handled."""
        self._change_waiting(1, size)

    def remove_waiting(self, size: int) -> None:
        """Stop counting a line that `add_waiting` counted."""
        self._change_waiting(-1, -size)

    def enqueue(self, message: InFlightNotification) -> None:
        """Count a notification that waits in its session queue."""
        queue, weight = message.queue, message.weight
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

    def start(self, message: InFlightNotification) -> None:
        """Count a notification as handled, not waiting: its handler starts."""
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
        """Stop counting a message: its handler has ended."""
        self._messages -= 1
        self._weight -= message.weight
        if message.peer_waits:
            self._unblock(message)  # tasks that the handler left behind no longer count
        message.done = True
        if self._paused:
            self._maybe_resume()

    def discard(self, message: InFlightNotification) -> None:
        """Stop counting a notification that will not be handled."""
        self.start(message)
        self.end(message)

    def open_queue(self) -> None:
        """Count the task of a session queue."""
        self._handlers += 1

    def close_queue(self) -> None:
        """Stop counting the task of a session queue."""
        self._handlers -= 1
        if self._paused:
            self._maybe_resume()

    def exempt(self, queue: QueueLoad) -> None:
        """Don't pause reading for the messages in a queue: they may wait for something unread.

        Each call needs one of `end_exemption`.
        """
        queue.exemptions += 1
        if queue.exemptions == 1:
            self._exempt += queue.count
            self._exempt_weight += queue.weight
            if self._paused:
                self._maybe_resume()

    def end_exemption(self, queue: QueueLoad) -> None:
        """Undo one call of `exempt`."""
        queue.exemptions -= 1
        if not queue.exemptions:
            self._exempt -= queue.count
            self._exempt_weight -= queue.weight

    def begin_wait(self) -> InFlightMessage | None:
        """Count the current handler as waiting for the peer. Return its message; None outside of handlers."""
        message = current.get()
        if message is None or message.done:
            return None
        message.peer_waits += 1
        if message.peer_waits == 1:
            self._blocked += 1
            if isinstance(message, InFlightNotification):
                self.exempt(message.queue)
            else:
                self._blocked_requests += 1
                if self._waiting_requests.count:
                    self._update_requests()
        return message

    def end_wait(self, message: InFlightMessage | None) -> None:
        """End a wait, given the result of `begin_wait`."""
        if message is not None:
            message.peer_waits -= 1
            if not message.peer_waits and not message.done:
                self._unblock(message)

    def must_pause(self) -> bool:
        """Whether reading has to pause. If so, `on_resume` is called when it may continue."""
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
        """The number of messages, their weight, the number of handlers, and of handlers that await the peer."""
        return self._messages, self._weight, self._handlers, self._blocked

    def _change_waiting(self, count: int, size: int) -> None:
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
        """Exempt the waiting requests while every running handler of a request awaits the peer."""
        queue, all_blocked = self._waiting_requests, 0 < self._running_requests <= self._blocked_requests
        if all_blocked and not queue.exemptions:
            self.exempt(queue)
        elif queue.exemptions and not all_blocked:
            self.end_exemption(queue)
        if all_blocked and queue.count:
            self._on_all_blocked()

    def _unblock(self, message: InFlightMessage) -> None:
        self._blocked -= 1
        if isinstance(message, InFlightNotification):
            self.end_exemption(message.queue)
        else:
            self._blocked_requests -= 1
            if self._waiting_requests.count:
                self._update_requests()

    def _maybe_resume(self) -> None:
        # At half of the mark, so that reading doesn't stop and start with every message.
        waiting, weight = self._waiting - self._exempt, self._waiting_weight - self._exempt_weight
        if 2 * waiting < self._high_water_messages and 2 * weight < self._high_water_bytes:
            self._paused = False
            self._on_resume()
