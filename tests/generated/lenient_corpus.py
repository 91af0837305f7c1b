"""Messages for testing every lenient field of a profile, the same ones on every run.

Only the tested field is unusual: all other integers are exact in JavaScript, and all other strings have their format.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

from tests.support.models.instances import Instances
from tests.support.models.oracle import LENIENT, SKIP_INVALID_ITEMS, Oracle
from tests.support.models.profiles import Profile
from tests.support.models.shapes import Shape, shapes, valid_instance

Json: TypeAlias = Any

WRONG: list[Json] = [
    {"wrong": [1]},
    [{"wrong": 1}],
    ["wrong"],
    "wrong",
    7,
    2.0,
    1.5,
    -1,
    2**40,
    2**64,
    True,
    [],
    {},
    None,
]
_FORMATS = {"uri": "https://example.com/a", "date-time": "2026-11-20T10:00:00Z", "regex": "^a+$"}


@dataclass(frozen=True)
class Case:
    """An input for a definition, and the lenient key that it tests."""

    profile: Profile
    definition: str
    key: str
    schema: Json
    input: dict[str, Json]


class PlainInstances(Instances):
    """Instances without values that JavaScript or zod treat differently."""

    def _string(self, schema: dict[str, Json], depth: int) -> str:
        return _FORMATS.get(schema.get("format", "")) or super()._string(schema, depth)

    def _integer(self, schema: dict[str, Json]) -> int | float:
        return self.random.randint(max(0, schema.get("minimum", 0)), min(2**31 - 1, schema.get("maximum", 2**31 - 1)))

    def _number(self, schema: dict[str, Json]) -> int | float:
        ends: list[int | float] = [schema.get("minimum", -1), schema.get("maximum", 2.5)]
        return self.random.choice([*ends, 0.5])

    def _unknown_keys(self, properties: dict[str, Json], depth: int) -> dict[str, Json]:
        return {}


@cache
def lenient_corpus(profile: Profile) -> tuple[Case, ...]:
    """Return all cases of a profile, without definitions that have a union's tag only in Python."""
    oracle, instances = profile.oracle, PlainInstances(profile.schema, seed=20261120)
    return tuple(
        Case(profile, shape.definition, key, schema, instance)
        for shape in shapes(profile)
        if profile.described[shape.definition] is profile.definitions[shape.definition]
        for key, schema in shape.properties.items()
        if any(keyword in schema for keyword in LENIENT)
        for instance in _inputs(oracle, instances, profile.described[shape.definition], shape, key)
    )


def _inputs(
    oracle: Oracle, instances: Instances, definition: Json, shape: Shape, key: str
) -> Iterator[dict[str, Json]]:
    """Yield the message with the key valid, missing, null and of every wrong kind; in an array also as an item."""
    valid = valid_instance(oracle, instances, definition, shape, {key})
    yield valid
    yield {name: value for name, value in valid.items() if name != key}
    yield from ({**valid, key: wrong} for wrong in WRONG)
    schema = shape.properties[key]
    if SKIP_INVALID_ITEMS in schema:
        items = [instances.candidate(schema["items"], depth=2) for _ in range(3)]
        yield from ({**valid, key: [wrong, items[0], wrong, *items[1:], wrong]} for wrong in WRONG)
        yield {**valid, key: [*WRONG, *items]}
