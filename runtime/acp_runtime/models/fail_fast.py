"""Lists and mappings stop at their first bad item.

pydantic-core collects an error for every bad item, at half a kilobyte each and more in a union. To refuse a line of two
megabytes that says `[1,1,1,...]` where objects belong would take a gigabyte. The first one says as much.
"""

from __future__ import annotations

from typing import Any

_INSIDE = ("schema", "json_schema", "python_schema", "items_schema", "values_schema")


def stop_at_first_error(schema: Any) -> None:
    """Change the lists and mappings in a field's schema. Models in it see to their own fields."""
    if schema["type"] in ("list", "dict"):
        schema["fail_fast"] = True
    for part in _INSIDE:
        if isinstance(schema.get(part), dict):
            stop_at_first_error(schema[part])
    choices = schema.get("choices", ()) if schema["type"] == "union" else schema.get("steps", ())
    for choice in choices:
        stop_at_first_error(choice[0] if isinstance(choice, tuple) else choice)
