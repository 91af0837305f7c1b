"""Every rule on a small change: the finding, its verdicts, and a proof of the verdicts on the wire."""

from __future__ import annotations

import json
from functools import cache, reduce
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from codegen.diff.report import compare
from codegen.diff.verdict.findings import Finding
from codegen.diff.verdict.verdicts import BREAKING, Verdicts
from tests.codegen.diff.cases import CASES
from tests.support.codegen.generating import Generate
from tests.support.diff.cases import Case, prefix, prefixed
from tests.support.diff.sides import side

_IDS = [f"{case.name} in {case.place}" for case in CASES]
Answers = dict[tuple[str, str, str], bool]

# The group shares what is compared and generated once.
pytestmark = pytest.mark.xdist_group("verdicts")
every_case = pytest.mark.parametrize("case", CASES, ids=_IDS)


def findings(case: Case) -> tuple[Finding, ...]:
    return _findings(CASES.index(case))


@cache
def _findings(index: int) -> tuple[Finding, ...]:
    case = CASES[index]
    return compare(side(case.definitions("old")), side(case.definitions("new"))).findings


@pytest.fixture(scope="module")
def answers(generate_once: Generate) -> Answers:
    """Return, for every case, whether the bindings of each side can read what each side sends."""
    result: Answers = {}
    for reader in ("old", "new"):
        package = generate_once(
            {
                f"{prefix(case)}{name}": prefixed(definition, prefix(case))
                for case in CASES
                for name, definition in case.definitions(reader).items()
            }
        )
        for case in CASES:
            definition = getattr(package, f"{prefix(case)}{case.target}")
            for sender, value in (("old", case.old_json), ("new", case.new_json)):
                result[prefix(case), sender, reader] = reads(definition, value)
            for refusing, message in zip(("old", "new"), findings(case)[0].refused, strict=True):
                if message:
                    parts = json.loads(message)
                    value = parts["params" if "params" in parts else "result"]
                    result[prefix(case), f"refused by {refusing}", reader] = reads(definition, value)
    return result


def reads(definition: Any, message: Any) -> bool:
    try:
        TypeAdapter(definition).validate_json(json.dumps(message))
    except ValidationError:
        return False
    return True


def test_each_case_has_a_name_of_its_own() -> None:
    assert len({prefix(case) for case in CASES}) == len(CASES)


@every_case
def test_the_finding_its_verdicts_and_direction_equal_the_cases(case: Case) -> None:
    results = [
        (finding.rule, finding.verdicts, finding.flow) for finding in findings(case) if finding.rule not in case.also
    ]
    assert results == [(case.rule, Verdicts.of(case.letters), case.flow)]


NAMES = {
    "optional renamed": ["SessionNotification.working_dir", "SessionNotification.work_dir"],
    "definition renamed": ["Sort", "Kind"],
    "open union's member removed": ["Block", "BlockB"],
    "union's member retagged": ["Block", "BlockC", "BlockB"],
    "union opened": ["Block", "BlockOther"],
}


@pytest.mark.parametrize(("name", "expected"), NAMES.items(), ids=NAMES)
def test_a_finding_has_the_python_names_of_both_sides(name: str, expected: list[str]) -> None:
    (finding,) = findings(next(case for case in CASES if case.name == name))
    assert list(finding.symbols) == [f"acp_bindings.v1.{name}" for name in expected]


def test_a_finding_about_a_retagged_member_has_the_pointers_of_both_sides() -> None:
    (finding,) = findings(next(case for case in CASES if case.name == "union's member retagged"))
    assert (finding.old_pointer, finding.new_pointer) == ("/$defs/Block/oneOf/1", "/$defs/Block/oneOf/1")


@pytest.mark.slow
@pytest.mark.parametrize(
    "case", [case for case in CASES if case.place != "alone"], ids=lambda case: f"{case.name} in {case.place}"
)
def test_a_side_refuses_a_value_exactly_if_the_verdict_is_breaking(case: Case, answers: Answers) -> None:
    verdicts = reduce(Verdicts.joined, (finding.verdicts for finding in findings(case)))
    key = prefix(case)
    assert answers[key, "old", "old"]
    assert answers[key, "new", "new"]
    assert answers[key, "new", "old"] is (verdicts.old_peer is not BREAKING)
    assert answers[key, "old", "new"] is (verdicts.new_peer is not BREAKING)


@pytest.mark.slow
@every_case
def test_the_message_of_a_breaking_finding_is_refused_by_one_side_alone(case: Case, answers: Answers) -> None:
    finding = findings(case)[0]
    for reader, (refusing, other) in enumerate((("old", "new"), ("new", "old"))):
        assert bool(finding.refused[reader]) is (finding.verdicts[reader] is BREAKING)
        if finding.refused[reader]:
            key = prefix(case), f"refused by {refusing}"
            assert answers[(*key, refusing)] is False
            assert answers[(*key, other)] is True


def test_a_schema_compared_with_itself_has_no_findings() -> None:
    same = [(case, side(case.definitions("new"))) for case in CASES]
    assert [prefix(case) for case, same_side in same if compare(same_side, same_side).findings] == []
