"""Answers questions about definitions from the raw JSON, before they are read."""

from __future__ import annotations

from typing import Any

from codegen.nodes import REF_PREFIX, is_array, is_object

VARIANTS = ("anyOf", "oneOf")


def is_class(raw: dict[str, Any], schema: Any, seen: frozenset[str] = frozenset()) -> bool:
    """Return whether a schema describes an object with a class of its own, or a union of such objects."""
    if not is_object(schema):
        return False
    if "properties" in schema or schema.get("type") == "object":
        return "properties" in schema or not is_object(schema.get("additionalProperties"))
    variants = [each for keyword in VARIANTS for each in schema.get(keyword, ())]
    if variants:
        return all(is_class(raw, each, seen) for each in variants)
    parts = schema.get("allOf", ())
    refs = [each["$ref"].removeprefix(REF_PREFIX) for each in (*parts, schema) if is_object(each) and "$ref" in each]
    return bool(refs) and all(ref not in seen and is_class(raw, raw.get(ref), seen | {ref}) for ref in refs)


def allows_null(raw: dict[str, Any], name: str, seen: frozenset[str] = frozenset()) -> bool:
    """Return whether null is a value of a definition."""
    return name not in seen and _schema_allows_null(raw, raw.get(name, {}), seen | {name})


def _schema_allows_null(raw: dict[str, Any], schema: Any, seen: frozenset[str]) -> bool:
    if not set(schema) - {"description", "title", "x-side", "x-method", "deprecated"}:
        return True
    declared = schema.get("type", [])
    if declared == "null" or "null" in declared:
        return True
    if "$ref" in schema:
        return allows_null(raw, schema["$ref"].removeprefix(REF_PREFIX), seen)
    variants = [each for keyword in VARIANTS for each in schema.get(keyword, ())]
    return any(_schema_allows_null(raw, each, seen) for each in (*variants, *schema.get("allOf", ())))


def references(schema: Any) -> list[str]:
    """Return the names of the definitions that a schema refers to, once for each reference."""
    found: list[str] = []
    unread = [schema]
    while unread:
        each = unread.pop()
        if is_object(each):
            if isinstance(each.get("$ref"), str):
                found.append(each["$ref"].removeprefix(REF_PREFIX))
            unread += each.values()
        elif is_array(each):
            unread += each
    return found
