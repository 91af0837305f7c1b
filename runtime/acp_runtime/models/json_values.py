"""Decoded JSON of unknown shape, narrowed to types that a type checker understands."""

from __future__ import annotations

from typing import Any, cast


def as_object(value: Any) -> dict[str, Any] | None:
    """Return the value if it is a JSON object; None otherwise."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def as_array(value: Any) -> list[Any] | None:
    """Return the value if it is a JSON array; None otherwise."""
    items: list[Any] = value
    return items if isinstance(value, list) else None
