"""Drops parts of a schema that mean nothing, so that no reader or comparison has to handle them."""

from __future__ import annotations

from typing import Any

from codegen.nodes import is_array, is_object

# Keywords that hold data, and keywords that hold schemas by name.
_DATA, _MAPS = ("const", "default", "enum"), ("properties", "$defs")


def canonical(schema: Any, *, names: bool = False) -> Any:
    """Return a schema without empty `required` lists. With `names`, its keys are names instead of keywords."""
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
