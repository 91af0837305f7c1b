"""Text of the peer's, made fit for a terminal, a log or an exception (rule 30)."""

from __future__ import annotations


def printable(text: str | bytes, limit: int = 200) -> str:
    """Text with control characters escaped, newlines too, in at most `limit` characters."""
    decoded = text[: 4 * limit].decode("utf-8", "backslashreplace") if isinstance(text, bytes) else text[: limit + 1]
    escaped = _escaped(decoded, keep="")
    return escaped if len(escaped) <= limit else f"{escaped[:limit]}..."


def printable_lines(text: str) -> str:
    """Text of several lines with control characters escaped."""
    return _escaped(text.replace("\r\n", "\n"), keep="\n\t")


def _escaped(text: str, keep: str) -> str:
    return "".join(
        char if char.isprintable() or char in keep else char.encode("unicode_escape").decode() for char in text
    )
