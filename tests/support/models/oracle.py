"""Decides by upstream's schema whether a JSON value is valid, and which value remains when invalid parts fall back.

Validity is decided by a validator (`validity.py`) for the original schema. Leniency is derived here from the three
`x-deserialize-*` keywords, independently of the generator and the runtime. Upstream's pages add one required list that
may be missing.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from tests.support.models.validity import EmptyFallback, Validity

Json: TypeAlias = Any

DEFAULT_ON_ERROR = "x-deserialize-default-on-error"
DEFAULT_ON_NULL = "x-deserialize-default-on-null"
SKIP_INVALID_ITEMS = "x-deserialize-skip-invalid-items"
LENIENT = (DEFAULT_ON_ERROR, DEFAULT_ON_NULL, SKIP_INVALID_ITEMS)
VARIANTS = ("anyOf", "oneOf")
# Required lists that upstream's pages don't require, by definition.
MAY_BE_MISSING = {"McpServerStdio": "env"}


class Oracle:
    """Decides for one schema document."""

    def __init__(self, schema: dict[str, Json]) -> None:
        self.schema = schema
        self._validity = Validity(schema)
        self._may_be_missing = {id(schema["$defs"].get(name)): key for name, key in MAY_BE_MISSING.items()}

    def is_valid(self, schema: dict[str, Json], value: Json) -> bool:
        """Return whether a value satisfies a schema in the document, without any leniency."""
        return self._validity.holds(schema, value)

    def with_fallbacks(self, schema: dict[str, Json], value: Json) -> Json:
        """Return a value after its invalid parts fell back where the schema is lenient. It may still be invalid."""
        if isinstance(value, dict):
            value = self._object_with_fallbacks(schema, value)
        if isinstance(value, list) and isinstance(schema.get("items"), dict):
            value = [self.with_fallbacks(schema["items"], item) for item in value]
        for part in self._parts(schema):
            value = self.with_fallbacks(part, value)
        for keyword in VARIANTS:
            if keyword in schema:
                value = self._variant_with_fallbacks(schema[keyword], value)
        return value

    def _parts(self, schema: dict[str, Json]) -> list[dict[str, Json]]:
        """Return the other schemas that the same value must satisfy."""
        referred = [self.schema["$defs"][schema["$ref"].removeprefix("#/$defs/")]] if "$ref" in schema else []
        return [*referred, *schema.get("allOf", ())]

    def _variant_with_fallbacks(self, variants: list[dict[str, Json]], value: Json) -> Json:
        """Apply the fallbacks of the first member that then accepts the value. If none does, return it unchanged."""
        for variant in variants:
            tolerated = self.with_fallbacks(variant, value)
            if self.is_valid(variant, tolerated):
                return tolerated
        return value

    def _object_with_fallbacks(self, schema: dict[str, Json], value: dict[str, Json]) -> dict[str, Json]:
        properties = schema.get("properties", {})
        others = schema.get("additionalProperties", True)
        tolerated: dict[str, Json] = {}
        for key, item in value.items():
            if key in properties:
                self._add_property(properties[key], key, item, key in schema.get("required", ()), tolerated)
            else:
                tolerated[key] = self.with_fallbacks(others, item) if isinstance(others, dict) else item
        missing = self._may_be_missing.get(id(schema))
        if missing in schema.get("required", ()) and missing not in value:
            tolerated[missing] = EmptyFallback()
        return tolerated

    def _add_property(
        self, schema: dict[str, Json], key: str, value: Json, required: bool, into: dict[str, Json]
    ) -> None:
        if schema.get(SKIP_INVALID_ITEMS) and isinstance(value, list):
            value = self._valid_items(schema["items"], value)
        else:
            value = self.with_fallbacks(schema, value)
        falls_back = schema.get(DEFAULT_ON_ERROR) or (schema.get(DEFAULT_ON_NULL) and value is None)
        if not falls_back or self.is_valid(schema, value):
            into[key] = value
        elif required:
            into[key] = EmptyFallback()

    def _valid_items(self, schema: dict[str, Json], items: list[Json]) -> list[Json]:
        tolerated = [self.with_fallbacks(schema, item) for item in items]
        return [item for item in tolerated if self.is_valid(schema, item)]


def same_json(left: Json, right: Json) -> bool:
    """Return whether two decoded JSON texts are equal: 1 equals 1.0, but not true."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same_json(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same_json, left, right))
    if _is_number(left) and _is_number(right):
        return bool(left == right)
    return type(left) is type(right) and bool(left == right)


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
