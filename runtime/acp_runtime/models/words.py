"""Lists in error messages."""

from __future__ import annotations

from collections.abc import Sequence


def one_of(words: Sequence[str]) -> str:
    """Join words, without duplicates: `a, b or c`."""
    *others, last = dict.fromkeys(words)
    return f"{', '.join(others)} or {last}" if others else last
