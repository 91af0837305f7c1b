"""Brings a schema into the form that the other passes read. What it drops or rewrites restricts no value.

Keywords that only annotate, and formats that the bindings don't check, become part of the description. Unsafe
characters are escaped, and `true`, the schema of any JSON, becomes an empty object.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from codegen.escaping import code, visible
from codegen.nodes import escape, is_array, is_object
from codegen.types import FORMATS

# What the description says about something deprecated. The keyword stays, because it is part of the IR, too.
DEPRECATED = "Deprecated."
# Keywords that hold data, schemas by name, and other schemas.
_DATA, _MAPS = ("const", "default", "enum", "pattern", "examples"), ("properties", "$defs")
_SCHEMAS = ("items", "anyOf", "oneOf", "allOf")
# The formats and encodings that have a type.
_KNOWN = {"format": FORMATS.keys() - {"base64"}, "contentEncoding": {"base64"}}
# The keywords that would restrict values, with what the description says about them.
_UNCHECKED: dict[str, Callable[[Any], str]] = {
    "uniqueItems": lambda value: "No two items are equal",
    "readOnly": lambda value: "Read-only",
    "writeOnly": lambda value: "Write-only",
    "format": lambda value: f"The format is {code(value)}",
    "contentEncoding": lambda value: f"The encoding is {code(value)}",
    "contentMediaType": lambda value: f"The media type is {code(value)}",
}


def canonical(schema: Any, *, inside: str = "items") -> Any:
    """Return a schema in this form. `inside` is the keyword that it is the value of."""
    if is_array(schema):
        return [canonical(each, inside=inside) for each in schema]
    if not is_object(schema):
        return {} if schema is True and inside in _SCHEMAS else visible(schema) if isinstance(schema, str) else schema
    if inside in _MAPS:
        return {name: canonical(each, inside="items") for name, each in schema.items()}
    found = {
        keyword: value if keyword in _DATA else canonical(value, inside=keyword)
        for keyword, value in schema.items()
        if not _is_dropped(keyword, value)
    }
    texts = [found.get("description", ""), *map(visible, _sentences(schema))]
    return {**found, "description": "\n\n".join(filter(None, texts))} if len(texts) > 1 else found


def _is_dropped(keyword: str, value: Any) -> bool:
    """Return whether a keyword becomes text or means nothing. A malformed one stays, and stops the generator."""
    if keyword in ("deprecated", "uniqueItems", "readOnly", "writeOnly"):
        return value is False or (value is True and keyword != "deprecated")
    if keyword in ("required", "examples"):
        return is_array(value) and (keyword == "examples" or not value)
    return isinstance(value, str) and (keyword == "$comment" or _is_unchecked(keyword, value))


def _is_unchecked(keyword: str, value: Any) -> bool:
    is_flag = keyword in ("uniqueItems", "readOnly", "writeOnly")
    return keyword in _UNCHECKED and (
        value is True if is_flag else isinstance(value, str) and value not in _KNOWN.get(keyword, ())
    )


def _sentences(schema: dict[str, Any]) -> Iterator[str]:
    """Yield what the description says about keywords that only annotate."""
    for keyword, value in schema.items():
        if keyword == "deprecated" and value is True:
            yield DEPRECATED
        if keyword == "examples" and value and is_array(value):
            yield f"Examples: {', '.join(code(json.dumps(each, ensure_ascii=False)) for each in value)}."
        if _is_unchecked(keyword, value):
            yield f"{_UNCHECKED[keyword](value)}; the bindings don't check this."


def find_unchecked(schema: Any, pointer: str = "") -> Iterator[str]:
    """Yield each keyword that would restrict values but isn't checked, with its pointer."""
    for key, value in schema.items() if is_object(schema) else enumerate(schema) if is_array(schema) else ():
        place = f"{pointer}/{escape(str(key))}"
        if is_object(schema) and _is_unchecked(str(key), value):
            yield f"{key if value is True else f'{key} {value}'} ({pointer})"
        elif key not in _DATA:
            yield from find_unchecked(value, place)
