"""The objects that a definition describes: one for each combination of its unions' members, with all properties."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product
from typing import Any, TypeAlias

from tests.support.models.instances import Instances
from tests.support.models.oracle import VARIANTS, Oracle
from tests.support.models.profiles import Profile

Json: TypeAlias = Any


@dataclass(frozen=True)
class Shape:
    """A plain object: the properties of a definition, of those it wraps, and of one member of each of its unions."""

    definition: str
    properties: dict[str, Json]
    required: frozenset[str]
    known_tags: frozenset[tuple[str, str]] = frozenset()
    """The (key, constant) pairs of the unions' members, which an open member excludes."""

    @cached_property
    def tags(self) -> dict[str, str]:
        """The constants that tell this object from the other members of its unions."""
        return {key: schema["const"] for key, schema in self.properties.items() if "const" in schema}

    @property
    def open_tag(self) -> str | None:
        """The key of the tag if this is the open member of a union; None otherwise."""
        keys = {
            key for key, _ in self.known_tags if key in self.required and self.properties[key].get("type") == "string"
        }
        return next(iter(keys - self.tags.keys()), None)

    def instance(self, instances: Instances, keys: frozenset[str] | set[str] | None = None) -> dict[str, Json]:
        """Return an instance with the required properties and the given ones, or with all."""
        wanted = self.properties.keys() if keys is None else self.required | keys
        return {key: instances.candidate(self.properties[key], depth=2) for key in self.properties if key in wanted}


@cache
def shapes(profile: Profile) -> tuple[Shape, ...]:
    """Return every object of a profile's definitions, in their order."""
    return tuple(
        Shape(name, shape.properties, shape.required, shape.known_tags)
        for name, schema in profile.described.items()
        for shape in _shapes(profile.definitions, schema)
        if shape.properties or schema.get("type") == "object"
    )


def valid_instance(
    oracle: Oracle, instances: Instances, schema: Json, shape: Shape, keys: set[str] | None
) -> dict[str, Json]:
    """Return an instance of a shape that is valid for its definition."""
    for _ in range(100):
        instance = shape.instance(instances, keys)
        if oracle.is_valid(schema, instance):
            return instance
    raise AssertionError(f"No valid instance of {shape.definition} {shape.tags} found in 100 candidates.")


def _shapes(definitions: dict[str, Json], schema: Json) -> list[Shape]:
    """Return the alternatives in a schema. A schema that describes no object has one alternative without properties."""
    own = Shape("", schema.get("properties", {}), frozenset(schema.get("required", ())))
    parts = [definitions[schema["$ref"].removeprefix("#/$defs/")]] if "$ref" in schema else []
    alternatives = [[own], *(_shapes(definitions, part) for part in (*parts, *schema.get("allOf", ())))]
    for keyword in VARIANTS:
        if keyword in schema:
            members = [shape for member in schema[keyword] for shape in _shapes(definitions, member)]
            tags = frozenset(tag for member in members for tag in member.tags.items())
            alternatives.append(
                [Shape("", member.properties, member.required, member.known_tags | tags) for member in members]
            )
    return [_joined(choice) for choice in product(*alternatives)]


def _joined(parts: tuple[Shape, ...]) -> Shape:
    return Shape(
        "",
        {key: schema for part in parts for key, schema in part.properties.items()},
        frozenset().union(*(part.required for part in parts)),
        frozenset().union(*(part.known_tags for part in parts)),
    )


@dataclass(frozen=True)
class Sample:
    """A valid instance of a shape."""

    shape: Shape
    schema: Json
    instance: dict[str, Json]


class Samples:
    """Makes valid instances for every model class of a profile."""

    def __init__(self, profile: Profile, seed: int) -> None:
        self.profile = profile
        self.oracle = profile.oracle
        self.instances = Instances(profile.schema, seed)

    def all(self, keys: set[str] | None = None) -> list[Sample]:
        """Return one sample for each shape: with every property, or with the required and the given ones."""
        return [self._sample(shape, keys) for shape in shapes(self.profile)]

    def parse(self, sample: Sample, instance: Json) -> Any:
        return self.profile.adapter(sample.shape.definition).validate_json(json.dumps(instance))

    def dump(self, sample: Sample, value: Any) -> Json:
        return json.loads(self.profile.adapter(sample.shape.definition).dump_json(value))

    def _sample(self, shape: Shape, keys: set[str] | None) -> Sample:
        schema = self.profile.described[shape.definition]
        return Sample(shape, schema, valid_instance(self.oracle, self.instances, schema, shape, keys))
