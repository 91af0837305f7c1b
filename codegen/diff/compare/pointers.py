"""JSON pointers to parts of a schema for which the intermediate representation keeps none."""

from __future__ import annotations

from typing import Any

from codegen.ir import Union
from codegen.nodes import escape, is_array, is_object

_VARIANTS = ("anyOf", "oneOf")


def resolve(raw: Any, pointer: str) -> Any:
    """Return the value at a JSON pointer; None if there is none."""
    for token in pointer.split("/")[1:]:
        key = token.replace("~1", "/").replace("~0", "~")
        if is_array(raw):
            raw = raw[int(key)] if key.isdigit() and int(key) < len(raw) else None
        elif is_object(raw):
            raw = raw.get(key)
        else:
            return None
    return raw


def property_pointer(raw: Any, pointer: str, wire: str) -> str:
    """Return the pointer of an object's property, which may be defined by the union for all members."""
    place = pointer
    while place:
        found = f"{place}/properties/{escape(wire)}"
        if resolve(raw, found) is not None:
            return found
        keyword = place.split("/")[-2] if place.count("/") > 2 else ""
        if keyword not in _VARIANTS:
            return pointer
        place = place.rsplit("/", 2)[0]
    return pointer


def is_derived(raw: Any, union: Union) -> bool:
    """Return whether a union's members come from the union that it wraps."""
    return member_pointer(raw, union, 0) == union.pointer


def member_pointer(raw: Any, union: Union, index: int) -> str:
    """Return the pointer of a union's member, or of the union if its members come from the union it wraps."""
    schema = resolve(raw, union.pointer)
    for keyword in _VARIANTS:
        if is_object(schema) and keyword in schema:
            return f"{union.pointer}/{keyword}/{index}"
    return union.pointer
