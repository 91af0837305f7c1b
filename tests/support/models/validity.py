"""Whether a JSON value satisfies a schema document or a part of it, taken literally.

`jsonschema_rs` says so, because it is thirty times as fast as `jsonschema`, which judges the few values that it can't.
The one thing added to the schema is that integer formats (`uint32`, `int64`) assert their range, as they do for
upstream, whose schema is derived from such integers.
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


class EmptyInstead(list[Any]):
    """The empty array that a required key is read as once its value was given up.

    It is valid whatever the array's least number of items, as for upstream's SDKs, and is dumped as it is read.
    """


class Validity:
    """Answers for one schema document and every schema in it."""

    def __init__(self, schema: dict[str, Json]) -> None:
        self._pointers = {id(each): pointer for pointer, each in _objects(schema, "#")}
        self._fast = jsonschema_rs.validator_map_for(_with_ranges(schema))
        self._exact = _Exact(schema)

    def holds(self, schema: dict[str, Json], value: Json) -> bool:
        """Whether a value satisfies a schema, which is an object of the document."""
        if _has_empty_instead(value):
            return self.holds_exactly(schema, value)
        try:
            return self._fast[self._pointers[id(schema)]].is_valid(value)
        except UnicodeEncodeError:  # a lone surrogate
            return self.holds_exactly(schema, value)

    def holds_exactly(self, schema: dict[str, Json], value: Json) -> bool:
        """The same as `jsonschema` says it."""
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
    if isinstance(value, list) and len(value) < least and not isinstance(value, EmptyInstead):
        yield ValidationError(f"{value!r} has fewer than {least} items")


_Validator = validators.extend(Draft202012Validator, {"minItems": _min_items})


def _integer_formats() -> FormatChecker:
    """Checks the ranges of integers, and no other format: those are annotations in JSON Schema 2020-12."""

    def in_range(low: int, high: int) -> Any:
        return lambda value: not _is_number(value) or low <= value <= high

    checker = FormatChecker(formats=())
    for name, (low, high) in INTEGER_RANGES.items():
        checker.checkers = {**checker.checkers, name: (in_range(low, high), ())}
    return checker


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _objects(node: Json, pointer: str) -> Iterator[tuple[str, dict[str, Json]]]:
    """Every object of a document with its pointer as a URI's fragment."""
    if isinstance(node, dict):
        yield pointer, node
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, each in items:
        escaped = str(key).replace("~", "~0").replace("/", "~1")
        yield from _objects(each, f"{pointer}/{quote(escaped, safe='$~')}")


def _with_ranges(node: Json) -> Json:
    """A document in which integer formats are spelled out as what they assert."""
    if isinstance(node, list):
        return [_with_ranges(each) for each in node]
    if not isinstance(node, dict):
        return node
    copy = {key: _with_ranges(each) for key, each in node.items()}
    if isinstance(low_high := INTEGER_RANGES.get(str(node.get("format"))), tuple):
        copy["allOf"] = [*copy.get("allOf", ()), {"minimum": low_high[0], "maximum": low_high[1]}]
    return copy


def _has_empty_instead(value: Json) -> bool:
    if isinstance(value, dict):
        return any(map(_has_empty_instead, value.values()))
    return isinstance(value, EmptyInstead) or (isinstance(value, list) and any(map(_has_empty_instead, value)))
