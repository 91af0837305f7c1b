"""Makes valid and broken instances of a JSON schema, the same ones on every run.

They are made from the raw schema and include what is valid but easily forgotten: explicit nulls, whole floats for
integers, the limits of integer ranges, unknown keys, snake_case forms of real keys, unknown tags. Whether an instance
is really valid is decided by the oracle.
"""

from __future__ import annotations

import json
import re
from functools import cached_property
from random import Random
from typing import Any, TypeAlias

from tests.support.models.oracle import VARIANTS
from tests.support.models.validity import INTEGER_RANGES

Json: TypeAlias = Any

_TEXTS = [
    "",
    "x",
    "/abs/päth",
    "null",
    "1",
    "_tag_from_the_future",
    "line\nbreak\t\u0000",
    "日本語 🎉",
    "USD",
    "a" * 300,
]
_KEYS = ["", "meta", "self", "data", "model_config", "__class__", "_vendor", "$ref", "constructor", "clé 🎉"]
_NUMBERS: list[Json] = [0, -1, 1.5, 2**63, 2**64, -(2**63) - 1, 10**25, 1000.0000001, 4294967294.5, 2.0**65, 2.0**64]
_SCALARS: list[Json] = [None, True, False, *_NUMBERS, *_TEXTS]
_DEEPEST = 5


def snake_case(key: str) -> str:
    return re.sub("([A-Z])", r"_\1", key).lower()


class Instances:
    """Makes instances of the definitions in one schema document."""

    def __init__(self, schema: dict[str, Json], seed: int) -> None:
        self.schema = schema
        self.random = Random(seed)

    @cached_property
    def constants(self) -> list[str]:
        """Every string constant in the schema."""
        return sorted(_constants(self.schema))

    def candidate(self, schema: dict[str, Json], depth: int = 0) -> Json:
        """Return a value that is probably valid."""
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self.random.choice(schema["enum"])
        parts = [self.candidate(part, depth) for part in self._parts(schema)]
        if "type" in schema or not parts:
            parts.append(self._typed(schema, depth))
        if all(isinstance(part, dict) for part in parts):
            return {key: value for part in reversed(parts) for key, value in part.items()}
        return parts[0]

    def broken(self, valid: Json) -> Json:
        """Return a value with one to three changes, which is probably invalid."""
        value = json.loads(json.dumps(valid))
        for _ in range(self.random.choice([1, 1, 1, 2, 3])):
            value = self._change_somewhere(value)
        return value

    def _parts(self, schema: dict[str, Json]) -> list[dict[str, Json]]:
        parts = [self.random.choice(schema[keyword]) for keyword in VARIANTS if keyword in schema]
        if "$ref" in schema:
            parts.append(self.schema["$defs"][schema["$ref"].removeprefix("#/$defs/")])
        return [*parts, *schema.get("allOf", ())]

    def _typed(self, schema: dict[str, Json], depth: int) -> Json:
        declared = schema.get("type")
        if declared is None:
            return self._anything(depth)
        kind = self.random.choice(declared) if isinstance(declared, list) else declared
        makers = {"object": self._object, "array": self._array, "string": self._string}
        if kind in makers:
            return makers[kind](schema, depth)
        if kind in ("integer", "number"):
            return self._integer(schema) if kind == "integer" else self._number(schema)
        return self._chance(0.5) if kind == "boolean" else None

    def _object(self, schema: dict[str, Json], depth: int) -> dict[str, Json]:
        properties = schema.get("properties", {})
        required = schema.get("required", ())
        optional = 0.6 if depth == 0 else 0.5 / depth
        value = {
            key: self.candidate(schema, depth + 1)
            for key, schema in properties.items()
            if key in required or (depth < _DEEPEST and self._chance(optional))
        }
        others = schema.get("additionalProperties", True)
        if isinstance(others, dict) and depth < _DEEPEST:
            value |= {
                self.random.choice(_KEYS): self.candidate(others, depth + 1) for _ in range(self.random.randrange(3))
            }
        elif self._chance(0.3) and others is True:
            value |= self._unknown_keys(properties, depth)
        return self._shuffled(value)

    def _unknown_keys(self, properties: dict[str, Json], depth: int) -> dict[str, Json]:
        snake_cased = [name for key in properties if (name := snake_case(key)) != key]
        keys = self.random.sample([*_KEYS, *snake_cased], k=2)
        return {key: self._anything(depth + 2) for key in keys if key not in properties}

    def _array(self, schema: dict[str, Json], depth: int) -> list[Json]:
        fewest = schema.get("minItems", 0)
        count = fewest if depth >= _DEEPEST else fewest + self.random.choice([0, 1, 1, 2])
        return [self.candidate(schema["items"], depth + 1) for _ in range(count)]

    def _string(self, schema: dict[str, Json], _: int) -> str:
        fits = re.compile(schema.get("pattern", ""))
        texts = [text for text in _TEXTS if len(text) >= schema.get("minLength", 0) and fits.search(text)]
        return self.random.choice(texts)

    def _integer(self, schema: dict[str, Json]) -> int | float:
        low, high = INTEGER_RANGES.get(schema.get("format", ""), (-(10**30), 10**30))
        low, high = max(low, schema.get("minimum", low)), min(high, schema.get("maximum", high))
        value = self.random.choice([low, high, max(low, 0), self.random.randint(low, high), min(high, max(low, 2))])
        # pydantic-core takes no float of 2.0**63 or more for an integer, and jsonschema_rs takes -2.0**63 for less than
        # -2**63.
        return float(value) if self._chance(0.3) and float(value) == value and abs(value) < 2**63 else value

    def _number(self, schema: dict[str, Json]) -> int | float:
        low: int | float = schema.get("minimum", -(2**70))
        high: int | float = schema.get("maximum", 2**70)
        return self.random.choice([low, high, float(low), max(low, 0), self.random.uniform(low, high)])

    def _anything(self, depth: int) -> Json:
        if depth >= _DEEPEST or self._chance(0.6):
            return self.random.choice(_SCALARS)
        items = [self._anything(depth + 2) for _ in range(self.random.randrange(3))]
        return items if self._chance(0.5) else dict(zip(self.random.sample(_KEYS, k=len(items)), items, strict=True))

    def _change_somewhere(self, value: Json) -> Json:
        places = list(_places(value))
        if not places or self._chance(0.05):
            return self._other(value)
        container, key = self.random.choice(places)
        if self._chance(0.25) and isinstance(container, dict):
            item = container.pop(key)
            if self._chance(0.4):
                container[snake_case(key)] = item
        elif self._chance(0.3) and isinstance(container[key], list):
            at = self.random.randint(0, len(container[key]))
            container[key].insert(at, self._other(None))
        else:
            container[key] = self._other(container[key])
        return value

    def _other(self, value: Json) -> Json:
        if isinstance(value, str) and self._chance(0.4):
            return self.random.choice(self.constants)
        if isinstance(value, int | float) and self._chance(0.6):
            return self.random.choice(_NUMBERS)
        return self.random.choice([None, self._anything(3), {}, [], [value], self.random.choice(_SCALARS)])

    def _shuffled(self, value: dict[str, Json]) -> dict[str, Json]:
        return {key: value[key] for key in self.random.sample(list(value), k=len(value))}

    def _chance(self, probability: float) -> bool:
        return self.random.random() < probability


def _places(value: Json) -> Any:
    """Yield every container in a value with each of its keys."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from _places(value[key])


def _constants(schema: Json) -> set[str]:
    """Return every string constant in a schema: tags and enum values."""
    if isinstance(schema, dict):
        own = {schema["const"]} if isinstance(schema.get("const"), str) else set()
        return own.union(*(_constants(part) for part in schema.values()))
    return set().union(*(_constants(part) for part in schema)) if isinstance(schema, list) else set()
