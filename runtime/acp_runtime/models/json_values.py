"""Decoded JSON of unknown shape, narrowed for type checkers, and the JSON keys of attributes."""

from __future__ import annotations

from typing import Any, cast

from pydantic.alias_generators import to_camel


def as_object(value: Any) -> dict[str, Any] | None:
    """Return the value if it is a JSON object; None otherwise."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def as_array(value: Any) -> list[Any] | None:
    """Return the value if it is a JSON array; None otherwise."""
    items: list[Any] = value
    return items if isinstance(value, list) else None


def wire_name(name: str) -> str:
    """Return the JSON key of a Python attribute: `session_id` is `sessionId`, `meta` is `_meta`, `from_` is `from`.

    There are no exceptions. The generator refuses a schema key that doesn't result from this rule.
    """
    return "_meta" if name == "meta" else to_camel(name.removesuffix("_"))
