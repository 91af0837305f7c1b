"""Names and values of headers."""

from __future__ import annotations

CONNECTION_ID = "Acp-Connection-Id"
SESSION_ID = "Acp-Session-Id"


def is_header_value(text: str) -> bool:
    """Whether a text can be the value of a header."""
    return text.isascii() and text.isprintable()
