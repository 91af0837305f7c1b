"""The load of a connection, in numbers."""

from __future__ import annotations

from typing import NamedTuple


class Load(NamedTuple):
    """How much a connection handles at one moment; all 0 when it is idle.

    Attributes:
        calls: pending calls of this side.
        tasks: the tasks of request handlers and session queues.
        messages: received messages that are in flight or wait.
        weight: the memory that these take, in bytes.
        handlers: running handlers of requests, and session queues.
        blocked: the handlers that await the peer.
    """

    calls: int = 0
    tasks: int = 0
    messages: int = 0
    weight: int = 0
    handlers: int = 0
    blocked: int = 0
