"""Escapes text from the peer for terminals, logs and exceptions (rule 30)."""

from __future__ import annotations


def printable(text: str | bytes, limit: int = 200) -> str:
    """Escape control characters, including newlines, and truncate to `limit` characters."""
    decoded = text[: 4 * limit].decode("utf-8", "backslashreplace") if isinstance(text, bytes) else text[: limit + 1]
    escaped = _escape(decoded, keep="")
    return escaped if len(escaped) <= limit else f"{escaped[:limit]}..."


def printable_lines(text: str) -> str:
    """Escape control characters in a text, but keep its newlines and tabs."""
    return _escape(text.replace("\r\n", "\n"), keep="\n\t")


def _escape(text: str, keep: str) -> str:
    return "".join(
        char if char.isprintable() or char in keep else char.encode("unicode_escape").decode() for char in text
    )
