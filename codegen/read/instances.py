"""Checks JSON values in `methods.toml` against a schema.

Only some keywords are checked. A refused value is certainly invalid; an accepted one may be invalid as well.
"""

from __future__ import annotations

from typing import Any

from codegen.nodes import REF_PREFIX, is_array, is_object
from codegen.read.raw import VARIANTS

_TYPES: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
    "array": list,
    "object": dict,
    "null": type(None),
}


def is_instance(value: Any, schema: Any, definitions: dict[str, Any]) -> bool:
    """Return whether a value is an instance of a schema, by its types, constants, properties and variants."""
    if not is_object(schema):
        return True
    if ("const" in schema and value != schema["const"]) or ("enum" in schema and value not in schema["enum"]):
        return False
    if not _is_of_type(value, schema.get("type")) or not _has_properties(value, schema, definitions):
        return False
    target = definitions.get(schema["$ref"].removeprefix(REF_PREFIX)) if "$ref" in schema else None
    if not all(is_instance(value, each, definitions) for each in (target, *schema.get("allOf", ()))):
        return False
    variants = [schema[keyword] for keyword in VARIANTS if keyword in schema]
    return all(any(is_instance(value, each, definitions) for each in group) for group in variants)


def _is_of_type(value: Any, declared: Any) -> bool:
    names = declared if is_array(declared) else [] if declared is None else [declared]
    if isinstance(value, bool):
        return not names or "boolean" in names
    return not names or any(isinstance(value, _TYPES.get(name, object)) for name in names)


def _has_properties(value: Any, schema: dict[str, Any], definitions: dict[str, Any]) -> bool:
    if not is_object(value):
        return True
    properties = schema.get("properties", {})
    present = all(key in value for key in schema.get("required", ()))
    return present and all(is_instance(each, properties.get(key), definitions) for key, each in value.items())
