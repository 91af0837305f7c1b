"""Keeps the cookies of an agent's server within bounds."""

from __future__ import annotations

from http.cookiejar import CookieJar

_MAX_CHARACTERS = 16_384  # many servers take no larger head of a request


def drop_excess(cookies: CookieJar) -> None:
    """Drop the oldest cookies, until the others fit into a request."""
    kept = list(cookies)
    size = sum(len(each.name) + len(each.value or "") for each in kept)
    for oldest in kept:
        if size <= _MAX_CHARACTERS:
            break
        size -= len(oldest.name) + len(oldest.value or "")
        cookies.clear(oldest.domain, oldest.path, oldest.name)
