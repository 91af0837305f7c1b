"""Words of error messages."""

from __future__ import annotations

from collections.abc import Sequence


def one_of(words: Sequence[str]) -> str:
    """Words as one says them: `a, b or c`."""
    *others, last = dict.fromkeys(words)
    return f"{', '.join(others)} or {last}" if others else last
