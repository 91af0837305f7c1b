"""Backpressure: when reading pauses, and when a flood closes the connection (rule 18).

* A message is *queued* from the time it is read until its handler begins. Reading pauses above `high_water_messages` or
  `high_water_bytes` that are queued, and goes on below half of that.
* It doesn't pause while a handler is itself waiting for the peer, or a session is being created: what they need may
  come behind the queued messages.
* It goes on, too, if no handler ends for `handler_deadline`: the end of the peer may come next, or what the application
  waits for. Each time that happens, twice as much may be queued, until the queue is short again.
* All messages whose handling has not ended count as a flood, above `flood_factor` times `high_water_bytes`.
"""

from __future__ import annotations

from collections.abc import Callable

from acp_runtime.jsonrpc import framing
from acp_runtime.options import Options

# While fewer bytes are in flight, the contents of lines aren't inspected: at worst, they take 40 MB of memory.
_LITTLE = 256 * 1024


class Limits:
    """Counts the messages whose handling has not ended, and says when there are too many.

    Args:
        options: the limits.

    Attributes:
        on_room: called when reading was paused and may go on; the reader sets it.
        messages, bytes: all messages whose handling has not ended, and answers that the peer doesn't read.
        queued, queued_bytes: the ones whose handlers have not begun.
        blocked: the handlers that wait for the peer, and the calls that create a session.
        ended: how many messages have been handled so far.
        is_paused: whether reading has to pause.
    """

    def __init__(self, options: Options) -> None:
        self._max_messages = options.high_water_messages
        self._max_bytes = options.high_water_bytes
        self._flood_bytes = options.high_water_bytes * options.flood_factor
        self._factor = 1
        self.on_room: Callable[[], object]
        self.messages: int = 0
        self.bytes: int = 0
        self.queued: int = 0
        self.queued_bytes: int = 0
        self.blocked: int = 0
        self.ended: int = 0
        self.is_paused: bool = False

    def memory_of(self, line: bytes) -> int:
        """Return how much memory the message of a line takes; roughly, while little is in flight."""
        if self.bytes + len(line) <= _LITTLE:
            return len(line) + framing.MODEL_BYTES
        return framing.memory_of(line)

    def add_queued(self, size: int) -> None:
        """Count a message that was read, and whose handler has not begun."""
        self.messages += 1
        self.bytes += size
        self.queued += 1
        self.queued_bytes += size

    def begin(self, size: int) -> None:
        """Count a message that was queued as handled now."""
        self.queued -= 1
        self.queued_bytes -= size
        if self.is_paused:
            self._maybe_resume()

    def add(self, size: int) -> None:
        """Count a message that isn't queued, or an answer that the peer doesn't read."""
        self.messages += 1
        self.bytes += size

    def remove(self, size: int) -> None:
        """Stop counting a message that was handled, or an answer that was read."""
        self.messages -= 1
        self.bytes -= size
        self.ended += 1

    def block(self) -> None:
        """Don't pause reading, until `unblock` was called as often."""
        self.blocked += 1
        self._maybe_resume()

    def unblock(self) -> None:
        """Undo one `block`."""
        self.blocked -= 1

    def read_on(self) -> None:
        """Let twice as much be queued, because no handler ends."""
        self._factor *= 2
        if not self.must_pause():
            self.on_room()

    def must_pause(self) -> bool:
        """Whether reading has to pause. If so, `on_room` is called when it may go on."""
        if not self.queued and self._factor == 1:
            self.is_paused = False
            return False
        if self._factor > 1 and not self.exceeds(0.5):
            self._factor = 1
        self.is_paused = not self.blocked and self.exceeds(self._factor)
        return self.is_paused

    @property
    def is_flooded(self) -> bool:
        """Whether the peer sent so much that the connection has to end. A single message never counts as a flood."""
        return self.bytes >= self._flood_bytes and self.messages > 1

    def exceeds(self, share: float) -> bool:
        """Whether the queue exceeds this share of the high-water marks, regardless of waiting handlers."""
        return self.queued >= self._max_messages * share or self.queued_bytes >= self._max_bytes * share

    def _maybe_resume(self) -> None:
        # At half of the mark, so that reading doesn't stop and start with every message.
        if self.is_paused and (self.blocked or not self.exceeds(self._factor / 2)):
            self.is_paused = False
            self.on_room()
