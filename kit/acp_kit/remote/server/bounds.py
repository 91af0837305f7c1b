"""How much clients may cost a server."""

from __future__ import annotations

from dataclasses import dataclass

from acp_runtime import Options

MIB = 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """How much clients may cost a server. Beyond a bound, a request is refused or the connection ends.

    Attributes:
        message_bytes: The size of the largest message that is received, in bytes.
        first_bytes: The same until the agent has answered `initialize`.
        first_seconds: How long a client may take to send `initialize`, and `authenticate` to answer. The connection has
            a place from the beginning. What is read of a body before that counts with those that are not initialized.
        connection_bytes: How many bytes of a connection may wait: received and not handled to the end, sent and not
            read, complete or not; not the objects that handlers make messages of. The agent waits beyond half of it.
            Beyond all of it, the connection is aborted.
        process_bytes: The same for all connections. Beyond it, the connection with the most is aborted. Those that are
            not initialized may have a sixteenth of it.
        body_seconds: How long it may take to receive the body of an HTTP request.
        posts: How many messages of an HTTP connection may wait until the agent takes them, and their requests with
            them. Further ones are refused.
        unread_bytes: How many bytes may wait for a client that doesn't read, for each of its sessions. Then the agent
            waits, too.
        unread_seconds: How long a client may leave a stream or a WebSocket unread while the agent waits for it or bytes
            are on their way. Its connection ends then.
        streams: For how many sessions of an HTTP connection there may be an open stream or unread messages. An open
            stream counts as 48 KiB that wait.
        id_length: The length of the longest id of a connection or a session, in characters.
        connections: How many connections there may be at the same time.
        idle_seconds: How long an HTTP connection may have no open stream, and how long the agent may take to answer
            `initialize`. The connection ends then.
    """

    message_bytes: int = Options.max_message_bytes
    first_bytes: int = MIB
    first_seconds: float = 10.0
    connection_bytes: int = 320 * MIB
    process_bytes: int = 512 * MIB
    body_seconds: float = 60.0
    posts: int = 64
    unread_bytes: int = 64 * MIB
    unread_seconds: float = 60.0
    streams: int = 1024
    id_length: int = 1024
    connections: int = 10_000
    idle_seconds: float = 60.0
