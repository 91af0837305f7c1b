"""Brings a schema into the form that the other passes read. What it drops or rewrites restricts no value.

Keywords that only annotate, and formats that the bindings don't check, become part of the description. Unsafe
characters are escaped, and `true`, the schema of any JSON, becomes an empty object.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
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
# What descriptions say about keywords that would restrict values: flags, and texts that follow.
_FLAGS = {"uniqueItems": "No two items are equal", "readOnly": "Read-only", "writeOnly": "Write-only"}
_TEXTS = {"format": "The format is", "contentEncoding": "The encoding is", "contentMediaType": "The media type is"}
_UNCHECKED = "; the bindings don't check this."


def canonical(schema: Any, *, inside: str = "items") -> Any:
    """Return a schema in this form. `inside` is the keyword that it is the value of."""
    if is_array(schema):
        return [canonical(each, inside=inside) for each in schema]
    if not is_object(schema):
        return {} if schema is True and inside in _SCHEMAS else visible(schema) if isinstance(schema, str) else schema
    if inside in _MAPS:
        return {name: canonical(each, inside="items") for name, each in schema.items()}
    said = {keyword: _said(keyword, value) for keyword, value in schema.items()}
    found = {
        keyword: value if keyword in _DATA else canonical(value, inside=keyword)
        for keyword, value in schema.items()
        if said[keyword] in (None, DEPRECATED)
    }
    texts = [text for text in (found.get("description"), *map(visible, filter(None, said.values()))) if text]
    return {**found, "description": "\n\n".join(texts)} if any(said.values()) else found


def _said(keyword: str, value: Any) -> str | None:
    """Return what the description says about a keyword that only annotates; None if it is none, or malformed."""
    said: str | None
    match keyword, value:
        case ("required" | "examples", []) | ("$comment", str()) | ("deprecated", False):
            said = ""
        case "deprecated", True:
            said = DEPRECATED
        case "examples", [*_]:
            said = f"Examples: {', '.join(code(json.dumps(each, ensure_ascii=False)) for each in value)}."
        case _, bool() if keyword in _FLAGS:
            said = f"{_FLAGS[keyword]}{_UNCHECKED}" if value else ""
        case _, str() if keyword in _TEXTS and value not in _KNOWN.get(keyword, ()):
            said = f"{_TEXTS[keyword]} {code(value)}{_UNCHECKED}"
        case _:
            said = None
    return said


def find_unchecked(schema: Any, pointer: str = "") -> Iterator[str]:
    """Yield each keyword that would restrict values but isn't checked, with its pointer."""
    for key, value in schema.items() if is_object(schema) else enumerate(schema) if is_array(schema) else ():
        if (_said(str(key), value) or "").endswith(_UNCHECKED):
            yield f"{key if value is True else f'{key} {value}'} ({pointer})"
        elif key not in _DATA:
            yield from find_unchecked(value, f"{pointer}/{escape(str(key))}")
