"""Finds JSON pointers to parts of a schema that have no pointer in the intermediate representation."""

from __future__ import annotations

from typing import Any

from codegen.ir import Member, Union
from codegen.nodes import escape, is_array, is_object

_VARIANTS = ("anyOf", "oneOf")
_INNER = ("items", "additionalProperties")


def resolve(raw: Any, pointer: str) -> Any:
    """Return the value at a JSON pointer; None if there is no value."""
    for token in pointer.split("/")[1:]:
        key = token.replace("~1", "/").replace("~0", "~")
        if is_array(raw):
            raw = raw[int(key)] if key.isdigit() and int(key) < len(raw) else None
        elif is_object(raw):
            raw = raw.get(key)
        else:
            return None
    return raw


def find_parts(raw: Any, pointer: str) -> dict[str, Member]:
    """Return the parts of the type at a pointer as members, to compare their descriptions.

    The parts are the variants of a union or an enum, by their constant or title, and the types of items and of
    additional properties, by their keyword.
    """
    schema: dict[str, Any] = resolve(raw, pointer) or {}
    parts: list[dict[str, Any]] = [part for keyword in _VARIANTS for part in schema.get(keyword, ())]
    named = {str(part.get("const", part.get("title", ""))): part for part in parts}
    named |= {keyword: schema[keyword] for keyword in _INNER if is_object(schema.get(keyword))}
    return {
        name: Member(name, name, doc=part.get("description", ""), deprecated="deprecated" in part)
        for name, part in named.items()
    }


def property_pointer(raw: Any, pointer: str, wire: str) -> str:
    """Return the pointer of an object's property. A union around the object may define it for all members."""
    parent = pointer
    while resolve(raw, f"{parent}/properties/{escape(wire)}") is None:
        parent, keyword, _ = parent.rsplit("/", 2)
        if keyword not in _VARIANTS:
            return pointer
    return f"{parent}/properties/{escape(wire)}"


def member_pointer(raw: Any, union: Union, member: Member | None) -> str:
    """Return the pointer of a union's member, or of the union if its members come from the union it wraps."""
    schema = resolve(raw, union.pointer)
    for keyword in _VARIANTS:
        if member and is_object(schema) and keyword in schema:
            return f"{union.pointer}/{keyword}/{union.members.index(member)}"
    return union.pointer
