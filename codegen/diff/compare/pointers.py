"""Where in the schema something stands that the representation keeps no pointer of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from codegen.ir import Union
from codegen.nodes import REF_PREFIX, escape, is_array, is_object

_VARIANTS = ("anyOf", "oneOf")


def at(raw: Any, pointer: str) -> Any:
    """What a JSON pointer points at; None if it points at nothing."""
    for token in pointer.split("/")[1:]:
        key = token.replace("~1", "/").replace("~0", "~")
        if is_array(raw):
            raw = raw[int(key)] if key.isdigit() and int(key) < len(raw) else None
        elif is_object(raw):
            raw = raw.get(key)
        else:
            return None
    return raw


def of_property(raw: Any, pointer: str, wire: str) -> str:
    """A property of an object: its own, or one that its union has for all members."""
    place = pointer
    while place:
        found = f"{place}/properties/{escape(wire)}"
        if at(raw, found) is not None:
            return found
        keyword = place.split("/")[-2] if place.count("/") > 2 else ""
        if keyword not in _VARIANTS:
            return pointer
        place = place.rsplit("/", 2)[0]
    return pointer


def of_member(raw: Any, union: Union, index: int) -> str:
    """A member of a union, or the union itself if it has its members from the one it wraps."""
    schema = at(raw, union.pointer)
    for keyword in _VARIANTS:
        if is_object(schema) and keyword in schema:
            return f"{union.pointer}/{keyword}/{index}"
    return union.pointer


def references(raw: Any, name: str, pointer: str = "") -> Iterator[str]:
    """Everything below a pointer that is a reference to a definition."""
    if is_object(raw):
        if raw.get("$ref") == REF_PREFIX + name:
            yield pointer
        for key, value in raw.items():
            yield from references(value, name, f"{pointer}/{escape(key)}")
    elif is_array(raw):
        for index, value in enumerate(raw):
            yield from references(value, name, f"{pointer}/{index}")
