"""Lists and mappings stop validating at their first invalid item.

pydantic-core collects an error for every invalid item, at half a kilobyte each and more in a union. Refusing a line of
two megabytes with `[1,1,1,...]` where objects belong would take a gigabyte, and say no more than the first error does.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_INSIDE = ("schema", "lax_schema", "strict_schema", "items_schema", "values_schema")


def stop_at_first_error(schema: Any) -> None:
    """Change the lists and mappings in the schema of a model, except those in other models."""
    while schema["type"] != "model-fields":
        schema = schema["schema"]
    for field in schema["fields"].values():
        _change(field)


def _change(schema: Any) -> None:
    if schema["type"] in ("list", "dict"):
        schema["fail_fast"] = True
    for part in _parts(schema):
        if part["type"] != "model":
            _change(part)


def _parts(schema: Any) -> Iterator[Any]:
    yield from (schema[key] for key in _INSIDE if isinstance(schema.get(key), dict))
    if schema["type"] == "union":
        yield from (choice[0] if isinstance(choice, tuple) else choice for choice in schema["choices"])
