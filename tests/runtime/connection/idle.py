"""Whether a connection has nothing to do."""

from __future__ import annotations

from acp_runtime.connection import Connection


def is_idle(connection: Connection) -> bool:
    """Return whether nothing is under way: no call, no handler, no message."""
    limits = connection.limits
    return not (connection.calls.pending or connection.tasks.running or limits.messages or limits.blocked)
