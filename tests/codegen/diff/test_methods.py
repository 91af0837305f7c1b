"""Findings about methods, messages and profiles, and about definitions that become stable or unstable."""

from __future__ import annotations

import json
from functools import cache

import pytest

from codegen.diff.report import compare
from codegen.diff.verdict.findings import Finding
from codegen.diff.verdict.rules import RULES
from codegen.diff.verdict.verdicts import BREAKING, Severity, Verdicts
from tests.codegen.diff.cases import CASES, METHOD_CASES
from tests.codegen.diff.cases.methods import MODE, PROMPT, MethodCase, both, compare_case, stable
from tests.support.codegen.build import STRING, Schema, model, request, tagged
from tests.support.diff.sides import side_of_schemas


@cache
def findings_of(case: MethodCase) -> list[Finding]:
    """Return the findings of the case's kind: a renamed method, for example, may also have renamed params."""
    kind = case.rule.split("-")[0]
    return [finding for finding in compare_case(case).findings if finding.rule.split("-")[0] == kind]


def findings_between(old: dict[str, Schema], new: dict[str, Schema]) -> tuple[Finding, ...]:
    return compare(side_of_schemas(old), side_of_schemas(new)).findings


@pytest.mark.parametrize("case", METHOD_CASES, ids=lambda case: case.name)
def test_the_finding_is_the_one_written_by_hand(case: MethodCase) -> None:
    findings = findings_of(case)
    expected = (case.rule, Verdicts.of(case.letters), case.flow)
    assert [(finding.rule, finding.verdicts, finding.flow) for finding in findings] == [expected]


@pytest.mark.parametrize(
    "case", [case for case in METHOD_CASES if case.rule.startswith("method-")], ids=lambda case: case.name
)
def test_a_breaking_finding_about_a_method_has_a_message_of_that_method(case: MethodCase) -> None:
    (finding,) = findings_of(case)
    for verdict, message in zip(finding.verdicts, finding.refused, strict=False):
        assert bool(message) is (verdict is BREAKING)
        assert not message or json.loads(message).get("method", finding.methods[0]) in finding.methods


def test_a_renamed_method_is_reported_by_the_name_unknown_to_peers() -> None:
    old, new = (request(wire, "Mode", model(["id"], id=STRING)) for wire in ("session/mode", "session/set_mode"))
    (finding,) = findings_between(stable(old), stable(new))
    messages = [{"method": wire, "params": {"id": "x"}} for wire in ("session/set_mode", "session/mode")]
    assert [json.loads(message) for message in finding.refused] == messages


def test_every_rule_has_a_case() -> None:
    assert set(RULES) == {case.rule for case in (*CASES, *METHOD_CASES)}


def test_a_new_or_removed_method_is_one_finding_with_its_handlers_params_and_result() -> None:
    classes = ("SetModeRequest", "SetModeResponse")
    for old, new in (({}, MODE), (MODE, {})):
        (method,) = findings_between(stable(old), stable(new))
        assert method.symbols == tuple(f"acp_bindings.v1.{name}" for name in ("Agent.session_set_mode", *classes))
        assert method.place == "session/set_mode"


def test_a_method_that_becomes_stable_or_unstable_is_neither_added_nor_removed() -> None:
    unstable, moved = both({}, MODE), both(MODE, MODE)
    assert [finding.rule for finding in findings_between(unstable, moved)] == ["method-stabilised"]
    assert [finding.rule for finding in findings_between(moved, unstable)] == ["method-left-stable"]


def loading(wire: str, name: str) -> dict[str, Schema]:
    """Return a method with params and a result that no other definition is like."""
    return stable(request(wire, name, model(cwd=STRING, label=STRING), model(title=STRING, note=STRING)))


def test_a_method_whose_params_and_result_were_renamed_was_renamed_itself() -> None:
    findings = findings_between(loading("session/set_mode", "Load"), loading("session/set_config_option", "Resume"))
    assert [finding.rule for finding in findings] == ["method-renamed", "definition-renamed", "definition-renamed"]


def test_a_method_of_the_other_side_is_not_a_renamed_one() -> None:
    old = request("session/set_mode", "Mode", model(id=STRING))
    new = request("session/request_permission", "Mode", model(id=STRING), on="client")
    rules = {finding.rule for finding in findings_between(stable(old), stable(new))}
    assert rules == {"method-removed-unannounced", "method-added-baseline"}


def test_a_renamed_method_without_an_entry_keeps_its_rank_and_facts() -> None:
    wires = ("session/prompt", "session/ask")
    old, new = (stable(request(wire, "Ask", model(cwd=STRING, label=STRING))) for wire in wires)
    (found,) = findings_between(old, new)
    assert (found.rule, found.wire_severity) == ("method-renamed", Severity.BASELINE)


def test_empty_results_of_two_methods_are_not_one_renamed_definition() -> None:
    old, new = stable(MODE), stable(request("session/set_config_option", "Ask"))
    assert {finding.rule for finding in findings_between(old, new)} == {
        "method-removed-unannounced",
        "method-added-unannounced",
    }


def test_a_check_of_a_part_that_the_schema_no_longer_has_is_lost() -> None:
    """If the entry still names the part; otherwise a person has decided, and the part itself is the only finding."""
    blocks = {"ContentBlock": {"anyOf": [tagged("type", "text")]}}
    findings = findings_between(stable(PROMPT), stable(PROMPT | blocks))
    (lost,) = (finding for finding in findings if finding.rule == "method-needs-lost")
    assert (lost.before, lost.after) == ("prompt.image: agentCapabilities.promptCapabilities.image", "")
