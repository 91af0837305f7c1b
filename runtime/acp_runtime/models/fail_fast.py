"""Lists and mappings stop validating at their first invalid item.

pydantic-core collects an error for every invalid item, at half a kilobyte each and more in a union. Refusing a line of
two megabytes with `[1,1,1,...]` where objects belong would take a gigabyte, and say no more than the first error does.
"""

from __future__ import annotations

from typing import Any

_INSIDE = ("schema", "json_schema", "python_schema", "items_schema", "values_schema")


def stop_at_first_error(schema: Any) -> None:
    """Change the lists and mappings in a field's schema. Fields of models inside it are changed separately."""
    if schema["type"] in ("list", "dict"):
        schema["fail_fast"] = True
    for part in _INSIDE:
        if isinstance(schema.get(part), dict):
            stop_at_first_error(schema[part])
    choices = schema.get("choices", ()) if schema["type"] == "union" else schema.get("steps", ())
    for choice in choices:
        stop_at_first_error(choice[0] if isinstance(choice, tuple) else choice)
