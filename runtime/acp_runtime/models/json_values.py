"""Decoded JSON whose shape nobody has checked yet, in types that a type checker can follow."""

from __future__ import annotations

from typing import Any, cast


def as_object(value: Any) -> dict[str, Any] | None:
    """A JSON object, or None if the value is something else."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def as_array(value: Any) -> list[Any] | None:
    """A JSON array, or None if the value is something else."""
    items: list[Any] = value
    return items if isinstance(value, list) else None
