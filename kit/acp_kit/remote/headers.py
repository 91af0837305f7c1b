"""Names and values of headers."""

from __future__ import annotations

CONNECTION_ID = "Acp-Connection-Id"
SESSION_ID = "Acp-Session-Id"
# Characters of an id of a connection, a session or a request.
MAX_ID = 1024


def is_header_value(text: str) -> bool:
    """Whether a text can be the value of a header."""
    return text.isascii() and text.isprintable()


def is_id(text: str) -> bool:
    """Whether a header can carry an id, and it isn't too long."""
    return len(text) <= MAX_ID and is_header_value(text)
