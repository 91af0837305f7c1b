"""The order, the cursors and the limit of a list of sessions."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from datetime import UTC, datetime
from typing import Any, Final, cast

from acp_kit.history.session_ids import is_storable
from acp_runtime import InvalidParams

# One more is queried, which must fit into a 32-bit INTEGER of a database.
_MAX_LIMIT: Final = 2**31 - 2


def now() -> str:
    """Return the time in UTC, as ISO 8601 with microseconds. Such texts sort by time."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def cursor_after(updated_at: str, session_id: str) -> str:
    """Return the cursor for the sessions that follow one in a list."""
    return urlsafe_b64encode(json.dumps([updated_at, session_id]).encode()).decode()


def read_cursor(cursor: str) -> tuple[str, str]:
    """Return the time of the last change of the last listed session, and its id.

    Raises:
        InvalidParams: if `cursor_after` did not make the cursor.
    """
    try:
        decoded: Any = json.loads(urlsafe_b64decode(cursor.encode("ascii")))
    except (ValueError, RecursionError):
        decoded = None
    match decoded:
        case [str(updated_at), str(session_id)] if is_storable(updated_at) and is_storable(session_id):
            return updated_at, session_id
        case _:
            raise InvalidParams("The cursor is not one that session/list returned.")


def check_limit(limit: int) -> int:
    """Return the largest number of sessions to list, reduced to what every database accepts.

    Raises:
        TypeError: if the limit is not an int.
        ValueError: if it is less than 1.
    """
    if isinstance(limit, bool) or not isinstance(cast("object", limit), int):
        raise TypeError(f"limit must be an int, not {limit!r}.")
    if limit < 1:
        raise ValueError(f"limit must be at least 1, not {limit}.")
    return min(limit, _MAX_LIMIT)
