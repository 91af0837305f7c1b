"""The fast validator of the tests gives the same verdicts as the exact one."""

from __future__ import annotations

import pytest

from tests.support.models.instances import Instances
from tests.support.models.profiles import Profile
from tests.support.models.validity import EmptyFallback, Validity
from tests.support.scale import SEED, count


@pytest.mark.slow
@pytest.mark.stress
def test_both_validators_give_the_same_verdict(profile: Profile) -> None:
    validity, instances = Validity(profile.schema), Instances(profile.schema, SEED)
    verdicts: set[bool] = set()
    for schema in {**profile.schema["$defs"], **profile.described}.values():
        for _ in range(count(2, 100)):
            value = instances.candidate(schema)
            for each in (value, instances.broken(value)):
                verdict = validity.holds(schema, each)
                assert verdict == validity.holds_exactly(schema, each), each
                verdicts.add(verdict)
    assert verdicts == {True, False}


SMALL = {
    "properties": {"at_least_one": {"type": "array", "minItems": 1}, "byte": {"type": "integer", "format": "uint8"}}
}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"at_least_one": []}, False),
        ({"at_least_one": EmptyFallback()}, True),
        ({"byte": 255}, True),
        ({"byte": 256}, False),
        ({"byte": -1}, False),
        ({"byte": 2.0}, True),
        ({"other": "\ud800"}, True),
        ({"other": "\ud800", "byte": 256}, False),
    ],
    ids=ascii,
)
def test_integer_ranges_and_empty_fallbacks_are_respected(value: object, expected: bool) -> None:
    assert Validity(SMALL).holds(SMALL, value) is expected
