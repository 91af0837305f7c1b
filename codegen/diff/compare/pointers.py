"""JSON pointers to parts of a schema for which the intermediate representation keeps none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from codegen.ir import Union
from codegen.nodes import REF_PREFIX, escape, is_array, is_object

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


def member_pointer(raw: Any, union: Union, index: int) -> str:
    """Return the pointer of a union's member, or of the union if its members come from the union it wraps."""
    schema = resolve(raw, union.pointer)
    for keyword in _VARIANTS:
        if is_object(schema) and keyword in schema:
            return f"{union.pointer}/{keyword}/{index}"
    return union.pointer


def references(raw: Any, pointer: str = "") -> dict[str, list[str]]:
    """Return the pointers of all references in a schema, by definition. `pointer`: that of the schema itself."""
    found: dict[str, list[str]] = {}
    for target, place in _references(raw, pointer):
        found.setdefault(target.removeprefix(REF_PREFIX), []).append(place)
    return found


def _references(raw: Any, pointer: str) -> Iterator[tuple[str, str]]:
    if is_object(raw):
        if isinstance(raw.get("$ref"), str):
            yield raw["$ref"], pointer
        for key, value in raw.items():
            if isinstance(value, dict | list):
                yield from _references(value, f"{pointer}/{escape(key)}")
    elif is_array(raw):
        for index, value in enumerate(raw):
            yield from _references(value, f"{pointer}/{index}")
