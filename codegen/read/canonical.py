"""Schemas without what says nothing, so that what reads or compares them need not know of it."""

from __future__ import annotations

from typing import Any

from codegen.nodes import is_array, is_object

# Keywords whose values are data, and keywords whose keys are names.
_DATA, _MAPS = ("const", "default", "enum"), ("properties", "$defs")


def canonical(schema: Any, *, names: bool = False) -> Any:
    """A schema in which nothing is required by an empty list. `names`: its keys are names, not keywords."""
    if is_array(schema):
        return [canonical(each) for each in schema]
    if not is_object(schema):
        return schema
    if names:
        return {name: canonical(each) for name, each in schema.items()}
    return {
        keyword: value if keyword in _DATA else canonical(value, names=keyword in _MAPS)
        for keyword, value in schema.items()
        if not (keyword == "required" and value == [])
    }
