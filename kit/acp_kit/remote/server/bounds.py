"""How much clients may cost a server."""

from __future__ import annotations

from dataclasses import dataclass

from acp_runtime import Options

MIB = 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """How much clients may cost a server. Whoever exceeds a bound is refused, or loses the connection.

    Attributes:
        message_bytes: The size of the largest message that is received, in bytes.
        body_seconds: How long it may take to receive the body of an HTTP request.
        posts: How many messages of an HTTP connection may wait until the agent takes them, and their requests with
            them. Further ones are refused.
        unread_bytes: How many bytes may wait for a client that doesn't read, for each of its sessions. Then the agent
            waits, too.
        unread_seconds: How long a client may leave a stream or a WebSocket unread while the agent waits for it or bytes
            are on their way. Its connection ends then.
        streams: For how many sessions of an HTTP connection there may be an open stream or unread messages.
        id_length: The length of the longest id of a connection or a session, in characters.
        connections: How many connections there may be at the same time.
        idle_seconds: How long an HTTP connection may have no open stream, and how long the agent may take to answer
            `initialize`. The connection ends then.
    """

    message_bytes: int = Options.max_message_bytes
    body_seconds: float = 60.0
    posts: int = 64
    unread_bytes: int = 64 * MIB
    unread_seconds: float = 60.0
    streams: int = 1024
    id_length: int = 1024
    connections: int = 10_000
    idle_seconds: float = 60.0
