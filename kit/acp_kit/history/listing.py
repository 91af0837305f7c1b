"""Cursors of session lists, and the time of a change."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from datetime import UTC, datetime
from typing import Any

from acp_runtime import InvalidParams


def now() -> str:
    """Return the time in UTC, as ISO 8601 with microseconds. Such texts sort by time."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def cursor_after(updated_at: str, session_id: str) -> str:
    """Return the cursor for the sessions that follow one in a list."""
    return urlsafe_b64encode(json.dumps([updated_at, session_id]).encode()).decode()


def read_cursor(cursor: str) -> tuple[str, str]:
    """Return when the last listed session was changed, and its id.

    Raises:
        InvalidParams: the cursor was not made by `cursor_after`.
    """
    try:
        found: Any = json.loads(urlsafe_b64decode(cursor.encode("ascii")))
        json.dumps(found, ensure_ascii=False).encode()  # a lone surrogate can't be in a query
    except (ValueError, RecursionError):
        found = None
    match found:
        case [str(updated_at), str(session_id)]:
            return updated_at, session_id
        case _:
            raise InvalidParams("The cursor is not one that session/list returned")


def check_limit(limit: int) -> None:
    """Refuse a part of a list that has no sessions.

    Raises:
        ValueError: the limit is less than 1.
    """
    if limit < 1:
        raise ValueError(f"limit must be at least 1, not {limit}.")
