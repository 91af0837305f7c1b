"""Leniency is upstream's own: its TypeScript SDK and we make the same of every message with something wrong in it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from tests.support.installed import UnavailableError, skip
from tests.support.models import npm_sdk
from tests.support.models.agreement import differences
from tests.support.models.lenient_corpus import Case, lenient_corpus
from tests.support.models.oracle import LENIENT
from tests.support.models.profiles import PROFILES, Profile
from tests.support.models.shapes import shapes
from tests.support.models.validity import INTEGER_RANGES


@dataclass(frozen=True)
class KnownDifference:
    """A kind of value that the two parsers are known to see differently, and why that is right."""

    reason: str
    applies: Callable[[Any, Any], bool]
    """Whether a field's schema and the value in it are of this kind."""


def _formats(schema: Any) -> set[str]:
    options = [schema, *schema.get("anyOf", ())]
    return {option["format"] for option in options if "format" in option}


def _is_no_64_bit_integer(schema: Any, value: Any) -> bool:
    ranges = [INTEGER_RANGES[name] for name in _formats(schema) & {"int64", "uint64"}]
    is_integer = isinstance(value, int | float) and not isinstance(value, bool) and value == int(value)
    return is_integer and any(value > high or (low and value < low) for low, high in ranges)


def _is_no_uri(schema: Any, value: Any) -> bool:
    return isinstance(value, str) and "://" not in value and "uri" in _formats(schema)


def _is_no_date_time(schema: Any, value: Any) -> bool:
    if not isinstance(value, str) or "date-time" not in _formats(schema):
        return False
    try:
        return datetime.fromisoformat(value).tzinfo is None
    except ValueError:
        return True


EXCEPTIONS = {
    "64-bit integers": KnownDifference(
        "The schema's int64 and uint64 are any whole `number` to the npm SDK, because JavaScript has no such integers: "
        "it takes what is out of range, but for less than nothing. We take what the schema says, and salvage the rest.",
        _is_no_64_bit_integer,
    ),
    "URIs": KnownDifference(
        "The npm SDK asserts `format: uri`. In JSON Schema 2020-12 a format is an annotation unless a vocabulary says "
        "otherwise, upstream's is a plain string in Rust, and dropping the text would lose what was sent.",
        _is_no_uri,
    ),
    "dates": KnownDifference(
        "The npm SDK asserts `format: date-time`; an annotation to us, for the same reasons.",
        _is_no_date_time,
    ),
}


@dataclass(frozen=True)
class Verdict:
    """What the two parsers made of a case, and where they differ."""

    case: Case
    differences: tuple[str, ...]

    @property
    def exceptions(self) -> list[str]:
        value = self.case.input.get(self.case.key)
        return [name for name, each in EXCEPTIONS.items() if each.applies(self.case.schema, value)]

    def __str__(self) -> str:
        return f"{self.case.profile.package}.{self.case.definition} {json.dumps(self.case.input)}: {self.differences}"


pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("npm")]


@pytest.fixture(scope="module")
def sdk() -> Path:
    try:
        return npm_sdk.install()
    except UnavailableError as reason:
        skip("Not compared with the npm SDK", reason)


@pytest.fixture(scope="module")
def verdicts(sdk: Path) -> list[Verdict]:
    cases = [case for profile in PROFILES for case in lenient_corpus(profile)]
    answers = npm_sdk.parse_all(
        sdk, ({"profile": case.profile.package, "definition": case.definition, "input": case.input} for case in cases)
    )
    return [_verdict(case, answer) for case, answer in zip(cases, answers, strict=True)]


def _verdict(case: Case, theirs: dict[str, Any]) -> Verdict:
    if "missing" in theirs:
        return Verdict(case, ("the npm SDK has no parser for it",))
    try:
        ours = case.profile.adapter(case.definition).validate_json(json.dumps(case.input))
    except ValidationError:
        return Verdict(case, ("we reject it",) if theirs["ok"] else ())
    return Verdict(case, tuple(differences(ours, theirs["value"])) if theirs["ok"] else ("they reject it",))


def test_the_corpus_has_every_lenient_field(profile: Profile) -> None:
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


def test_both_parsers_make_the_same_of_every_message_but_for_the_named_exceptions(verdicts: list[Verdict]) -> None:
    unexplained = [verdict for verdict in verdicts if verdict.differences and not verdict.exceptions]
    assert not unexplained, "\n".join(map(str, unexplained[:10]))


def test_every_named_exception_is_one(verdicts: list[Verdict]) -> None:
    named = [verdict for verdict in verdicts if verdict.exceptions]
    assert {name for verdict in named for name in verdict.exceptions} == set(EXCEPTIONS)
    assert not [str(verdict) for verdict in named if not verdict.differences]


def test_a_missing_key_is_an_error_to_both_where_it_is_required(verdicts: list[Verdict]) -> None:
    missing = [verdict for verdict in verdicts if verdict.case.key not in verdict.case.input]
    rejected = [verdict for verdict in missing if _is_rejected(verdict.case)]
    assert rejected
    assert not [str(verdict) for verdict in rejected if verdict.differences]


def _is_rejected(case: Case) -> bool:
    try:
        case.profile.adapter(case.definition).validate_json(json.dumps(case.input))
    except ValidationError:
        return True
    return False
