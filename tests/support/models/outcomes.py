"""Instances of definitions, each with the schema's verdict and with the result of parsing it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from pydantic import ValidationError

from tests.support.models.instances import Instances
from tests.support.models.oracle import Oracle
from tests.support.models.profiles import Profile
from tests.support.scale import count

EACH_KIND_AT_LEAST = count(1_000, 2_000)
SEED = 20261120


@dataclass(frozen=True)
class Outcome:
    """An instance, the schema's verdict on it, and the result of parsing it.

    Attributes:
        definition: the name of its definition.
        instance: the decoded JSON.
        valid: whether it is valid.
        tolerated: the instance after its invalid parts fell back.
        tolerable: whether that is valid.
        accepted: whether we parse the instance.
        dumped: the JSON that our parsed value is dumped to.
    """

    definition: str
    instance: Any
    valid: bool
    tolerated: Any
    tolerable: bool
    accepted: bool
    dumped: Any

    def __str__(self) -> str:
        dumped = f"\n  dumped:    {json.dumps(self.dumped)}" if self.accepted else ""
        tolerated = json.dumps(self.tolerated)
        return f"{self.definition}\n  instance:  {json.dumps(self.instance)}\n  tolerated: {tolerated}{dumped}"


@cache
def outcomes(profile: Profile) -> tuple[Outcome, ...]:
    """Return many valid and many invalid instances, as many for each definition if it has that many."""
    oracle = profile.oracle
    instances = Instances(profile.schema, SEED)
    share = -(-EACH_KIND_AT_LEAST // len(profile.definitions))
    results: list[Outcome] = []
    for name, schema in profile.described.items():
        valid = list(_first(share, _valid(oracle, instances, schema)))
        broken = _first(share + 2, _invalid(oracle, instances, schema, valid))
        results += [_outcome(profile, oracle, name, instance) for instance in (*valid, *broken)]
    return tuple(results)


def _valid(oracle: Oracle, instances: Instances, schema: Any) -> Iterator[Any]:
    candidates = (instances.candidate(schema) for _ in range(100))
    return (candidate for candidate in candidates if oracle.is_valid(schema, candidate))


def _invalid(oracle: Oracle, instances: Instances, schema: Any, valid: list[Any]) -> Iterator[Any]:
    candidates = (instances.broken(valid[turn % len(valid)]) for turn in range(100))
    return (candidate for candidate in candidates if not oracle.is_valid(schema, candidate))


def _first(count: int, items: Iterator[Any]) -> Iterator[Any]:
    return (item for _, item in zip(range(count), items, strict=False))


def _outcome(profile: Profile, oracle: Oracle, name: str, instance: Any) -> Outcome:
    schema = profile.described[name]
    adapter = profile.adapter(name)
    tolerated = oracle.with_fallbacks(schema, instance)
    verdicts = oracle.is_valid(schema, instance), oracle.is_valid(schema, tolerated)
    try:
        value = adapter.validate_json(json.dumps(instance))
    except ValidationError:
        return Outcome(name, instance, verdicts[0], tolerated, verdicts[1], accepted=False, dumped=None)
    dumped = json.loads(adapter.dump_json(value))
    return Outcome(name, instance, verdicts[0], tolerated, verdicts[1], accepted=True, dumped=dumped)
