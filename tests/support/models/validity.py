"""Decides whether a JSON value satisfies a schema document or a part of it, without any leniency.

`jsonschema_rs` decides, because it is thirty times as fast as `jsonschema`, which decides for the few values that the
former can't take. The only addition to the schema is that integer formats (`uint32`, `int64`) check their range, as
they do upstream, where the schema is derived from such integers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias
from urllib.parse import quote

import jsonschema_rs
from jsonschema import (  # type: ignore[import-untyped]
    Draft202012Validator,
    FormatChecker,
    ValidationError,
    validators,
)

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
        self._pointers = {id(each): pointer for pointer, each in _objects(schema, "#")}
        self._fast = jsonschema_rs.validator_map_for(_with_ranges(schema))
        self._exact = _Exact(schema)

    def holds(self, schema: dict[str, Json], value: Json) -> bool:
        """Return whether a value satisfies a schema, which must be an object in the document."""
        try:
            holds = self._fast[self._pointers[id(schema)]].is_valid(value)
        except UnicodeEncodeError:  # a lone surrogate
            return self.holds_exactly(schema, value)
        if not holds and _has_empty_fallback(value):
            return self.holds_exactly(schema, value)
        return holds

    def holds_exactly(self, schema: dict[str, Json], value: Json) -> bool:
        """Return whether a value satisfies a schema, decided by `jsonschema`."""
        return self._exact.holds(schema, value)


class _Exact:
    def __init__(self, schema: dict[str, Json]) -> None:
        self._root = _Validator(schema, format_checker=_integer_formats())
        self._validators: dict[int, Any] = {}

    def holds(self, schema: dict[str, Json], value: Json) -> bool:
        validator = self._validators.get(id(schema))
        if validator is None:
            validator = self._validators[id(schema)] = self._root.evolve(schema=schema)
        verdict: bool = validator.is_valid(value)
        return verdict


def _min_items(_: Any, least: int, value: Json, __: Any) -> Iterator[ValidationError]:
    if isinstance(value, list) and len(value) < least and not isinstance(value, EmptyFallback):
        yield ValidationError(f"{value!r} has fewer than {least} items")


_Validator = validators.extend(Draft202012Validator, {"minItems": _min_items})


def _integer_formats() -> FormatChecker:
    """Return a checker for the ranges of integers. Other formats aren't checked, as in JSON Schema 2020-12."""

    def in_range(low: int, high: int) -> Any:
        return lambda value: not _is_number(value) or low <= value <= high

    checker = FormatChecker(formats=())
    for name, (low, high) in INTEGER_RANGES.items():
        checker.checkers = {**checker.checkers, name: (in_range(low, high), ())}
    return checker


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _objects(node: Json, pointer: str) -> Iterator[tuple[str, dict[str, Json]]]:
    """Yield every object in a document with its pointer as the fragment of a URI."""
    if isinstance(node, dict):
        yield pointer, node
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, each in items:
        escaped = str(key).replace("~", "~0").replace("/", "~1")
        yield from _objects(each, f"{pointer}/{quote(escaped, safe='$~')}")


def _with_ranges(node: Json) -> Json:
    """Return a document with the ranges of integer formats as `minimum` and `maximum`."""
    if isinstance(node, list):
        return [_with_ranges(each) for each in node]
    if not isinstance(node, dict):
        return node
    copy = {key: _with_ranges(each) for key, each in node.items()}
    if isinstance(low_high := INTEGER_RANGES.get(str(node.get("format"))), tuple):
        copy["allOf"] = [*copy.get("allOf", ()), {"minimum": low_high[0], "maximum": low_high[1]}]
    return copy


def _has_empty_fallback(value: Json) -> bool:
    if isinstance(value, dict):
        return any(map(_has_empty_fallback, value.values()))
    return isinstance(value, EmptyFallback) or (isinstance(value, list) and any(map(_has_empty_fallback, value)))
