"""Reads JSON of any form, which nothing has checked. A member may be inside of nested objects."""

from __future__ import annotations

from typing import Any, cast


def member(value: object, *keys: str) -> Any:
    """Return a member; None if it is missing, or a value on the way isn't an object."""
    for key in keys:
        value = cast("dict[str, Any]", value).get(key) if isinstance(value, dict) else None
    return value


def members_of(value: object, *keys: str) -> dict[str, Any]:
    """Return the value or a member of it, if that is an object; otherwise an empty one."""
    members: dict[str, Any] | None = member(value, *keys)
    return members if isinstance(members, dict) else {}


def items_of(value: object, *keys: str) -> list[Any]:
    """Return the value or a member of it, if that is a list; otherwise an empty one."""
    items: list[Any] | None = member(value, *keys)
    return items if isinstance(items, list) else []


def messages_in(line: object) -> list[dict[str, Any]]:
    """Return the messages in the JSON of a line: itself, or the items of an array, which version 2 allows."""
    items = cast("list[object]", line) if isinstance(line, list) else [line]
    return [cast("dict[str, Any]", item) for item in items if isinstance(item, dict)]
