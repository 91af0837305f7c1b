"""Cursors of session lists, the time of a change, and ids that can be stored."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from datetime import UTC, datetime
from typing import Any, Final, cast

from acp_runtime import InvalidParams

# One more than this is asked for, and must fit into the INTEGER of a database, which may have 32 bits.
_MAX_LIMIT: Final = 2**31 - 2


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
        decoded: Any = json.loads(urlsafe_b64decode(cursor.encode("ascii")))
    except (ValueError, RecursionError):
        decoded = None
    match decoded:
        case [str(updated_at), str(session_id)] if is_storable(updated_at) and is_storable(session_id):
            return updated_at, session_id
        case _:
            raise InvalidParams("The cursor is not one that session/list returned")


def is_storable(text: str) -> bool:
    """Return whether every database can store a text, and take it in a query: without lone surrogates and U+0000."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text


def check_limit(limit: int) -> int:
    """Return how many sessions to list at most, as a number that databases can take.

    Raises:
        TypeError: the limit is not an int.
        ValueError: it is less than 1.
    """
    if isinstance(limit, bool) or not isinstance(cast("object", limit), int):
        raise TypeError(f"limit must be an int, not {limit!r}.")
    if limit < 1:
        raise ValueError(f"limit must be at least 1, not {limit}.")
    return min(limit, _MAX_LIMIT)


def check_new_id(session_id: str) -> None:
    """Refuse an id for a new session that no database can store.

    Raises:
        ValueError: it has a lone surrogate or U+0000.
    """
    if not is_storable(session_id):
        raise ValueError(
            f"The session id {session_id!r} can't be stored, because it has U+0000 or half of a character."
        )
