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
from tests.support.models.profiles import TESTED, Profile
from tests.support.models.shapes import shapes
from tests.support.skipping import skip_without
from tools.third_party import UnavailableError


def _is_outside_64_bits(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= 2**64


def _is_not_a_uri(value: Any) -> bool:
    return isinstance(value, str) and "://" not in value


def _is_not_a_date_time(value: Any) -> bool:
    try:
        return isinstance(value, str) and datetime.fromisoformat(value).tzinfo is None
    except ValueError:
        return True


# The npm SDK takes any whole `number` for int64 and uint64, because JavaScript has no such integers. It only refuses
# negative values for uint64. For us, values out of range are invalid and fall back.
# It checks `format: uri` and `format: date-time`. In JSON Schema 2020-12, a format is documentation by default.
# Upstream's Rust types are plain strings, and dropping the value would lose data.
KNOWN_DIFFERENCES: dict[str, Callable[[Any], bool]] = {
    "int64": _is_outside_64_bits,
    "uint64": _is_outside_64_bits,
    "uri": _is_not_a_uri,
    "date-time": _is_not_a_date_time,
}


@dataclass(frozen=True)
class Verdict:
    """A case, and the differences between the results of the two parsers."""

    case: Case
    differences: tuple[str, ...]

    @property
    def explanation(self) -> str:
        """The format whose values the npm SDK treats differently; empty if the value is none of them."""
        schema, value = self.case.schema, self.case.input.get(self.case.key)
        formats = (option.get("format") for option in (schema, *schema.get("anyOf", ())))
        return next((each for each in formats if each in KNOWN_DIFFERENCES and KNOWN_DIFFERENCES[each](value)), "")

    def __str__(self) -> str:
        return f"{self.case.profile.package}.{self.case.definition} {json.dumps(self.case.input)}: {self.differences}"


pytestmark = [pytest.mark.test_all, pytest.mark.slow, pytest.mark.stress, pytest.mark.xdist_group("npm")]


@pytest.fixture(scope="module")
def sdk() -> Path:
    try:
        return npm_sdk.install()
    except UnavailableError as reason:
        skip_without("Not compared with the npm SDK", reason)


@pytest.fixture(scope="module")
def verdicts(sdk: Path) -> list[Verdict]:
    cases = [case for profile in TESTED for case in lenient_corpus(profile)]
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
    without = [case for case in corpus if case.key not in case.input]
    assert any(case.key in profile.definitions[case.definition].get("required", ()) for case in without)


def test_both_parsers_agree_on_every_message_without_a_known_difference(verdicts: list[Verdict]) -> None:
    unexplained = [verdict for verdict in verdicts if bool(verdict.differences) != bool(verdict.explanation)]
    assert not unexplained, "\n".join(map(str, unexplained[:10]))


def test_every_known_difference_occurs(verdicts: list[Verdict]) -> None:
    assert {verdict.explanation for verdict in verdicts if verdict.differences} == KNOWN_DIFFERENCES.keys()
