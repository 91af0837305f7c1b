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
        unread_bytes: How many bytes wait at most for a client that doesn't read, for each of its sessions.
        unread_seconds: How long a client may not read while something waits for it. Its connection is closed then.
        unread_sessions: For how many sessions of a connection something may wait that the client doesn't read.
        id_length: The length of the longest id of a connection or a session, in characters.
        connections: How many connections there may be at the same time.
        idle_seconds: How long a connection over HTTP may have no open stream. It ends then.
    """

    message_bytes: int = Options.max_message_bytes
    unread_bytes: int = 64 * MIB
    unread_seconds: float = 60.0
    unread_sessions: int = 1024
    id_length: int = 1024
    connections: int = 10_000
    idle_seconds: float = 60.0
