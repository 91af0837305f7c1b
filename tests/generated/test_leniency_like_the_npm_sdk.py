"""We parse every message with an invalid value to the same result as upstream's TypeScript SDK."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from tests.support.models import npm_sdk
from tests.support.models.agreement import differences
from tests.support.models.lenient_corpus import Case, lenient_corpus
from tests.support.models.oracle import LENIENT
from tests.support.models.profiles import PROFILES, Profile
from tests.support.models.shapes import shapes
from tests.support.models.validity import INTEGER_RANGES
from tests.support.scale import STRESS
from tests.support.third_party import UnavailableError, skip_without


@dataclass(frozen=True)
class KnownDifference:
    """A kind of value that the two parsers treat differently, and why we don't follow the npm SDK."""

    reason: str
    applies: Callable[[Any, Any], bool]
    """Returns whether a field's schema and its value are of this kind."""


def _formats(schema: Any) -> set[str]:
    options = [schema, *schema.get("anyOf", ())]
    return {option["format"] for option in options if "format" in option}


def _is_outside_64_bits(schema: Any, value: Any) -> bool:
    ranges = [INTEGER_RANGES[name] for name in _formats(schema) & {"int64", "uint64"}]
    is_integer = isinstance(value, int | float) and not isinstance(value, bool) and value == int(value)
    return is_integer and any(value > high or (low and value < low) for low, high in ranges)


def _is_not_a_uri(schema: Any, value: Any) -> bool:
    return isinstance(value, str) and "://" not in value and "uri" in _formats(schema)


def _is_not_a_date_time(schema: Any, value: Any) -> bool:
    if not isinstance(value, str) or "date-time" not in _formats(schema):
        return False
    try:
        return datetime.fromisoformat(value).tzinfo is None
    except ValueError:
        return True


KNOWN_DIFFERENCES = {
    "64-bit integers": KnownDifference(
        "The npm SDK takes any whole `number` for int64 and uint64, because JavaScript has no such integers. It only "
        "refuses negative values for uint64. For us, values out of range are invalid and fall back.",
        _is_outside_64_bits,
    ),
    "URIs": KnownDifference(
        "The npm SDK checks `format: uri`. In JSON Schema 2020-12, a format is documentation by default. Upstream's "
        "Rust type is a plain string, and dropping the value would lose data.",
        _is_not_a_uri,
    ),
    "dates": KnownDifference(
        "The npm SDK checks `format: date-time`. We don't, for the same reasons.",
        _is_not_a_date_time,
    ),
}


@dataclass(frozen=True)
class Verdict:
    """A case, and the differences between the results of the two parsers."""

    case: Case
    differences: tuple[str, ...]

    @property
    def explanations(self) -> list[str]:
        value = self.case.input.get(self.case.key)
        return [name for name, each in KNOWN_DIFFERENCES.items() if each.applies(self.case.schema, value)]

    def __str__(self) -> str:
        return f"{self.case.profile.package}.{self.case.definition} {json.dumps(self.case.input)}: {self.differences}"


UNSTABLE = [profile for profile in PROFILES if profile.package.endswith("_unstable")]

pytestmark = [pytest.mark.slow, pytest.mark.stress, pytest.mark.xdist_group("npm")]


@pytest.fixture(scope="module")
def sdk() -> Path:
    try:
        return npm_sdk.install()
    except UnavailableError as reason:
        skip_without("Not compared with the npm SDK", reason)


@pytest.fixture(scope="module")
def verdicts(sdk: Path) -> list[Verdict]:
    """The verdicts on all profiles in `make stress`; otherwise on the unstable ones, which have almost everything."""
    cases = [case for profile in (PROFILES if STRESS else UNSTABLE) for case in lenient_corpus(profile)]
    answers = npm_sdk.parse_all(
        sdk, ({"profile": case.profile.package, "definition": case.definition, "input": case.input} for case in cases)
    )
    return [_verdict(case, answer) for case, answer in zip(cases, answers, strict=True)]


def _verdict(case: Case, theirs: dict[str, Any]) -> Verdict:
    if "missing" in theirs:
        return Verdict(case, ("the npm SDK has no parser for this definition",))
    try:
        ours = case.profile.adapter(case.definition).validate_json(json.dumps(case.input))
    except ValidationError:
        return Verdict(case, ("only we refuse it",) if theirs["ok"] else ())
    return Verdict(
        case, tuple(differences(ours, theirs["value"])) if theirs["ok"] else ("only the npm SDK refuses it",)
    )


def test_the_corpus_covers_every_lenient_field(profile: Profile) -> None:
    fields = {
        (shape.definition, key)
        for shape in shapes(profile)
        for key, schema in shape.properties.items()
        if any(keyword in schema for keyword in LENIENT)
    }
    in_python_only = {name for name, schema in profile.described.items() if schema is not profile.definitions[name]}
    corpus = lenient_corpus(profile)
    assert {(case.definition, case.key) for case in corpus} == {
        each for each in fields if each[0] not in in_python_only
    }
    assert len(corpus) >= 300


def test_both_parsers_agree_on_every_message_without_a_known_difference(verdicts: list[Verdict]) -> None:
    unexplained = [verdict for verdict in verdicts if verdict.differences and not verdict.explanations]
    assert not unexplained, "\n".join(map(str, unexplained[:10]))


def test_every_known_difference_occurs(verdicts: list[Verdict]) -> None:
    explained = [verdict for verdict in verdicts if verdict.explanations]
    assert {name for verdict in explained for name in verdict.explanations} == set(KNOWN_DIFFERENCES)
    assert not [str(verdict) for verdict in explained if not verdict.differences]


def test_both_parsers_refuse_a_message_without_a_required_key(verdicts: list[Verdict]) -> None:
    missing = [verdict for verdict in verdicts if verdict.case.key not in verdict.case.input]
    refused = [verdict for verdict in missing if _is_refused(verdict.case)]
    assert refused
    assert not [str(verdict) for verdict in refused if verdict.differences]


def _is_refused(case: Case) -> bool:
    try:
        case.profile.adapter(case.definition).validate_json(json.dumps(case.input))
    except ValidationError:
        return True
    return False
