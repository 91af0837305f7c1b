"""What a connection has in hand at a moment, in numbers."""

from __future__ import annotations

from typing import NamedTuple


class Load(NamedTuple):
    """Everything is 0 when a connection has nothing to do.

    Attributes:
        calls: calls of this side that have no response yet.
        tasks: handlers of requests, and queues of sessions.
        messages: received messages that are being handled or wait.
        weight: what these messages take in memory, in bytes.
        handlers: handlers that count for backpressure.
        blocked: those of them that await the peer.
    """

    calls: int = 0
    tasks: int = 0
    messages: int = 0
    weight: int = 0
    handlers: int = 0
    blocked: int = 0
