"""Joins texts that were sent in pieces."""

from __future__ import annotations

from collections.abc import Iterable


def join_texts(texts: Iterable[str]) -> str:
    """Join texts. If one ends with the first half of a character, and the next begins with its second half, the
    halves become the character: programs whose texts are UTF-16 cut an emoji in two.
    """
    joined = "".join(texts)
    if joined.isascii():
        return joined
    return joined.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
