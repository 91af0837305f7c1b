"""Limits on what clients may use of a server."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """Limits on what clients may use of a server. Beyond a limit, a request is refused or the connection ends.

    Attributes:
        message_bytes: the size of the largest message that is received, in bytes. Enough for a prompt with images.
        first_bytes: the same until the agent has answered `initialize`.
        first_seconds: how long a client may take to send `initialize`, and `authenticate` to return. The connection
            counts as one of `connections` from the beginning. Bytes of an incomplete body count toward the limit for
            connections that have not initialized.
        connection_bytes: how many bytes of a connection may be buffered: received messages that are not yet handled and
            sent messages that are not yet read, complete or not. The objects that messages are parsed into don't count.
            Beyond half of it, the agent waits. Beyond it, the connection is aborted.
        process_bytes: the same for all connections. Beyond it, the connection with the most bytes is aborted.
            Connections that have not initialized may have a sixteenth of it.
        body_seconds: how long the body of an HTTP request may take.
        posts: how many messages of an HTTP connection may wait for the agent. Further POSTs are refused.
        unread_bytes: how many bytes may be buffered for each session of a client that doesn't read. Beyond it, the
            agent waits.
        unread_seconds: how long a client may not read a stream or a WebSocket while the agent waits or bytes are being
            sent. Then its connection ends.
        streams: how many sessions of an HTTP connection may have an open stream or unread messages. An open stream
            counts as 48 KiB.
        connections: how many connections there may be at the same time. One identity may have half of them.
        idle_seconds: how long an HTTP connection may have no open stream, and how long the agent may take to answer
            `initialize`. Then the connection ends.
    """

    message_bytes: int = 16 * MIB
    first_bytes: int = MIB
    first_seconds: float = 10.0
    connection_bytes: int = 320 * MIB
    process_bytes: int = 512 * MIB
    body_seconds: float = 60.0
    posts: int = 64
    unread_bytes: int = 64 * MIB
    unread_seconds: float = 60.0
    streams: int = 1024
    connections: int = 10_000
    idle_seconds: float = 60.0
