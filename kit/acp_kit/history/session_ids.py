"""Checks ids of sessions before they reach a database."""

from __future__ import annotations

from acp_kit.history.errors import UnknownSession


def is_storable(text: str) -> bool:
    """Return whether every database can store a text, and accepts it in a query: no lone surrogates and no U+0000."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text


def check_new_id(session_id: str) -> None:
    """Refuse the id of a new session if not every database can store it.

    Raises:
        ValueError: if it has a lone surrogate or U+0000.
    """
    if not is_storable(session_id):
        raise ValueError(
            f"The session id {session_id!r} can't be stored, because it has U+0000 or half of a character."
        )


def check_known_id(session_id: str) -> None:
    """Refuse the id of an existing session if no session can have it.

    Raises:
        UnknownSession: if it has a lone surrogate or U+0000.
    """
    if not is_storable(session_id):
        raise UnknownSession(session_id)
