"""Backpressure: when reading pauses, and when a flood closes the connection (rule 18).

* A message *waits* from the time it is read until its handler begins. Reading pauses above `high_water_messages` or
  `high_water_bytes` that wait, and goes on below half of that.
* It doesn't pause while a handler is itself waiting for the peer, or a session is being created: what they need may
  come behind the messages that wait.
* All messages that are not handled to the end count as a flood, above `flood_factor` times `high_water_bytes`.
"""

from __future__ import annotations

from collections.abc import Callable

from acp_runtime.connection.handler import Message, current
from acp_runtime.options import Options


class Limits:
    """Counts the messages of one connection: `add_waiting`, `begin` and `end` for each, or `add` and `end`.

    Args:
        options: the limits.
        resume: called when reading was paused and may go on.

    Attributes:
        messages, bytes: all messages that are not handled to the end, and answers that the peer doesn't read.
        waiting, waiting_bytes: those of them that wait.
        blocked: the handlers that wait for the peer, and the calls that create a session.
    """

    def __init__(self, options: Options, resume: Callable[[], None]) -> None:
        self._max_messages = options.high_water_messages
        self._max_bytes = options.high_water_bytes
        self._flood_bytes = options.high_water_bytes * options.flood_factor
        self._resume = resume
        self._is_paused = False
        self.messages: int = 0
        self.bytes: int = 0
        self.waiting: int = 0
        self.waiting_bytes: int = 0
        self.blocked: int = 0

    def add_waiting(self, size: int) -> None:
        """Count a message that was read and waits for its handler."""
        self.messages += 1
        self.bytes += size
        self.waiting += 1
        self.waiting_bytes += size

    def begin(self, size: int) -> None:
        """Count a message that waited as handled now."""
        self.waiting -= 1
        self.waiting_bytes -= size
        if self._is_paused:
            self._maybe_resume()

    def add(self, size: int) -> None:
        """Count a message that doesn't wait, or an answer that the peer doesn't read."""
        self.messages += 1
        self.bytes += size

    def remove(self, size: int) -> None:
        """Stop counting what was handled to the end, or read."""
        self.messages -= 1
        self.bytes -= size

    def end(self, message: Message) -> None:
        """Stop counting a message: its handler has ended."""
        self.messages -= 1
        self.bytes -= message.size
        if message.peer_waits:
            self.blocked -= 1  # tasks that the handler left behind no longer count
        message.done = True

    def begin_wait_for_peer(self) -> Message | None:
        """Count the current handler as waiting for the peer. Return its message; None elsewhere."""
        message = current.get()
        if message is None or message.done or message.connection.limits is not self:
            return None
        message.peer_waits += 1
        if message.peer_waits == 1:
            self.block()
        return message

    def end_wait_for_peer(self, message: Message | None) -> None:
        """End a wait, given the result of `begin_wait_for_peer`."""
        if message is not None:
            message.peer_waits -= 1
            if not message.peer_waits and not message.done:
                self.blocked -= 1

    def block(self) -> None:
        """Don't pause reading, until `blocked` is as low as before."""
        self.blocked += 1
        if self._is_paused:
            self._maybe_resume()

    def must_pause(self) -> bool:
        """Whether reading has to pause. If so, `resume` is called when it may go on."""
        self._is_paused = not self.blocked and (self.is_full or self.waiting_bytes >= self._max_bytes)
        return self._is_paused

    @property
    def is_full(self) -> bool:
        """Whether as many messages wait as may, regardless of who waits for whom."""
        return self.waiting >= self._max_messages

    @property
    def is_flooded(self) -> bool:
        """Whether the peer sent so much that the connection has to end. One message alone is no flood."""
        return self.bytes >= self._flood_bytes and self.messages > 1

    def _maybe_resume(self) -> None:
        # At half of the mark, so that reading doesn't stop and start with every message.
        if self.blocked or (2 * self.waiting < self._max_messages and 2 * self.waiting_bytes < self._max_bytes):
            self._is_paused = False
            self._resume()
