"""Decides whether a JSON value satisfies a schema document or a part of it, without any leniency.

The only addition to the schema is that integer formats (`uint32`, `int64`) check their range, as they do upstream,
where the schema is derived from such integers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias
from urllib.parse import quote

import jsonschema_rs

Json: TypeAlias = Any

INTEGER_RANGES = {
    f"{sign}int{bits}": (0, 2**bits - 1) if sign else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    for sign in ("", "u")
    for bits in (8, 16, 32, 64)
}


class EmptyFallback(list[Any]):
    """The empty array that an invalid value of a required key falls back to.

    It is valid even if the schema requires more items, as in upstream's SDKs, and is dumped as an empty array.
    """


class Validity:
    """Decides for one schema document and every schema in it."""

    def __init__(self, schema: dict[str, Json]) -> None:
        self._pointers = {id(node): pointer for pointer, node in _objects(schema, "#")}
        self._validators = jsonschema_rs.validator_map_for(_with_ranges(schema))
        self._for_fallbacks = jsonschema_rs.validator_map_for(_with_ranges(schema, without="minItems"))

    def holds(self, schema: dict[str, Json], value: Json) -> bool:
        """Return whether a value satisfies a schema, which must be an object in the document."""
        validators = self._for_fallbacks if _has_empty_fallback(value) else self._validators
        return validators[self._pointers[id(schema)]].is_valid(value)


def _objects(node: Json, pointer: str) -> Iterator[tuple[str, dict[str, Json]]]:
    """Yield every object in a document with its pointer as the fragment of a URI."""
    if isinstance(node, dict):
        yield pointer, node
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, item in items:
        escaped = str(key).replace("~", "~0").replace("/", "~1")
        yield from _objects(item, f"{pointer}/{quote(escaped, safe='$~')}")


def _with_ranges(node: Json, without: str = "") -> Json:
    """Return a document with the ranges of integer formats as `minimum` and `maximum`, and without a keyword."""
    if isinstance(node, list):
        return [_with_ranges(item, without) for item in node]
    if not isinstance(node, dict):
        return node
    kept = {key: item for key, item in node.items() if key != without or isinstance(item, dict)}
    copy = {key: _with_ranges(value, without) for key, value in kept.items()}
    if isinstance(low_high := INTEGER_RANGES.get(str(node.get("format"))), tuple):
        copy["allOf"] = [*copy.get("allOf", ()), {"minimum": low_high[0], "maximum": low_high[1]}]
    return copy


def _has_empty_fallback(value: Json) -> bool:
    if isinstance(value, dict):
        return any(map(_has_empty_fallback, value.values()))
    return isinstance(value, EmptyFallback) or (isinstance(value, list) and any(map(_has_empty_fallback, value)))
