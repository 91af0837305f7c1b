"""Drops parts of a schema that mean nothing and escapes unsafe characters, so that nothing else has to handle them."""

from __future__ import annotations

from typing import Any

from codegen.escaping import visible
from codegen.nodes import is_array, is_object

# Keywords that hold data, and keywords that hold schemas by name.
_DATA, _MAPS = ("const", "default", "enum", "pattern"), ("properties", "$defs")


def canonical(schema: Any, *, names: bool = False) -> Any:
    """Return a schema without empty `required` lists, and with escapes for unsafe characters in its texts.

    With `names`, its keys are names instead of keywords.
    """
    if is_array(schema):
        return [canonical(each) for each in schema]
    if not is_object(schema):
        return visible(schema) if isinstance(schema, str) else schema
    if names:
        return {name: canonical(each) for name, each in schema.items()}
    return {
        keyword: value if keyword in _DATA else canonical(value, names=keyword in _MAPS)
        for keyword, value in schema.items()
        if not (keyword == "required" and value == [])
    }
