"""Lists and mappings stop validating at their first invalid item.

pydantic-core collects an error for every invalid item, at half a kilobyte each and more in a union. Refusing a line of
two megabytes with `[1,1,1,...]` where objects belong would take a gigabyte, and say no more than the first error does.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def stop_at_first_error(model: Any) -> None:
    """Change the lists and mappings in the schema of a model, except those in other models."""
    for part in parts_of(model):
        if part["type"] in ("list", "dict"):
            part["fail_fast"] = True


def parts_of(model: Any) -> Iterator[Any]:
    """Yield the schemas that a model's fields consist of, except the fields of other models."""
    while model["type"] != "model-fields":
        model = model["schema"]
    parts = [*model["fields"].values()]
    for part in parts:
        yield part
        parts += _inside(part)


def _inside(schema: Any) -> Iterator[Any]:
    for key in ("schema", "lax_schema", "strict_schema", "items_schema", "keys_schema", "values_schema"):
        inside = schema.get(key, [])
        yield from inside if isinstance(inside, list) else [inside]
    if schema["type"] == "union":
        yield from (choice[0] if isinstance(choice, tuple) else choice for choice in schema["choices"])
