"""What upstream's schema says about a JSON value: whether it is valid, and what leniency leaves of it.

Validity is the verdict of a validator (`validity.py`) on the original schema. Leniency is worked out here
from the three `x-deserialize-*` keywords, independently of the generator and the runtime.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from tests.support.models.validity import EmptyInstead, Validity

Json: TypeAlias = Any

DEFAULT_ON_ERROR = "x-deserialize-default-on-error"
DEFAULT_ON_NULL = "x-deserialize-default-on-null"
SKIP_INVALID_ITEMS = "x-deserialize-skip-invalid-items"
LENIENT = (DEFAULT_ON_ERROR, DEFAULT_ON_NULL, SKIP_INVALID_ITEMS)
VARIANTS = ("anyOf", "oneOf")


class Oracle:
    """Answers for one schema document."""

    def __init__(self, schema: dict[str, Json]) -> None:
        self.schema = schema
        self._validity = Validity(schema)

    def is_valid(self, schema: dict[str, Json], value: Json) -> bool:
        """Whether a value satisfies a subschema of the document, taken literally: no leniency."""
        return self._validity.holds(schema, value)

    def salvage(self, schema: dict[str, Json], value: Json) -> Json:
        """What is left of a value once leniency has removed what it may. The result need not be valid."""
        if isinstance(value, dict):
            value = self._salvage_members(schema, value)
        if isinstance(value, list) and isinstance(schema.get("items"), dict):
            value = [self.salvage(schema["items"], item) for item in value]
        for part in self._parts(schema):
            value = self.salvage(part, value)
        for keyword in VARIANTS:
            if keyword in schema:
                value = self._salvage_variant(schema[keyword], value)
        return value

    def _parts(self, schema: dict[str, Json]) -> list[dict[str, Json]]:
        """What else is true of the same value."""
        referred = [self.schema["$defs"][schema["$ref"].removeprefix("#/$defs/")]] if "$ref" in schema else []
        return [*referred, *schema.get("allOf", ())]

    def _salvage_variant(self, variants: list[dict[str, Json]], value: Json) -> Json:
        """The first member that accepts what leniency leaves for it wins; where none does, nothing is salvaged."""
        for variant in variants:
            left = self.salvage(variant, value)
            if self.is_valid(variant, left):
                return left
        return value

    def _salvage_members(self, schema: dict[str, Json], value: dict[str, Json]) -> dict[str, Json]:
        properties = schema.get("properties", {})
        others = schema.get("additionalProperties", True)
        salvaged: dict[str, Json] = {}
        for key, item in value.items():
            if key in properties:
                self._salvage_property(properties[key], key, item, key in schema.get("required", ()), salvaged)
            else:
                salvaged[key] = self.salvage(others, item) if isinstance(others, dict) else item
        return salvaged

    def _salvage_property(
        self, schema: dict[str, Json], key: str, value: Json, required: bool, into: dict[str, Json]
    ) -> None:
        if schema.get(SKIP_INVALID_ITEMS) and isinstance(value, list):
            value = self._valid_items(schema["items"], value)
        else:
            value = self.salvage(schema, value)
        gives_way = schema.get(DEFAULT_ON_ERROR) or (schema.get(DEFAULT_ON_NULL) and value is None)
        if not gives_way or self.is_valid(schema, value):
            into[key] = value
        elif required:
            into[key] = EmptyInstead()

    def _valid_items(self, schema: dict[str, Json], items: list[Json]) -> list[Json]:
        salvaged = [self.salvage(schema, item) for item in items]
        return [item for item in salvaged if self.is_valid(schema, item)]


def same_json(left: Json, right: Json) -> bool:
    """Whether two decoded JSON texts mean the same: 1 and 1.0 do, 1 and true don't."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same_json(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same_json, left, right))
    if _is_number(left) and _is_number(right):
        return bool(left == right)
    return type(left) is type(right) and bool(left == right)


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
