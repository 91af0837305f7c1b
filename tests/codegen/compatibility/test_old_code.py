"""Code for an older schema is checked with the bindings of a newer one, and its failures are attached to findings."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from codegen.compatibility.check import Result, check_old_code
from codegen.compatibility.user_code import check_uses
from codegen.diff.report import Report, UserCode, compare
from codegen.diff.verdict.findings import Failure
from codegen.regen import regenerate
from tests.codegen.compatibility.cases import AFTER, BEFORE
from tests.support.codegen.build import STRING, Schema, acp_schema, model, wraps, write_schema
from tests.support.diff.sides import side
from tests.support.paths import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("releases")]

# The uses that fail with the new bindings, each with the rules of the findings that predict it.
EXPECTED = {
    "build_NewSessionRequest_with_required": {"property-became-required"},
    "call_agent_session_new_1_with_required": {"property-became-required"},
    "build_NewSessionResponse": {"property-optional-removed"},
    "build_NewSessionResponse_with_null": {"property-optional-removed"},
    "read_NewSessionResponse_note": {"property-optional-removed"},
    "read_NewSessionResponse_title": {"nullable-added"},
    "make_Mood_2": {"enum-closed-value-removed"},
    "match_Block": {"union-closed-member-added"},
    "build_Gone": {"definition-removed"},
    "read_Gone_text": {"definition-removed"},
    "build_SetModeRequest": {"method-removed"},
    "build_SetModeResponse": {"method-removed"},
    "call_agent_session_set_mode_1": {"method-removed"},
    "handle_agent_session_set_mode": {"method-removed"},
    "create_client": {"method-added-baseline"},
}


def bindings(folder: Path, definitions: Schema) -> list[Path]:
    """Generate a package, and return the folders of the package and its runtime."""
    regenerate(write_schema(folder / "schema", acp_schema(definitions)), folder / "generated", pinned=False)
    return [folder / "generated", ROOT / "runtime"]


@pytest.fixture(scope="module")
def newer(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return bindings(tmp_path_factory.mktemp("bindings"), AFTER)


@pytest.fixture(scope="module")
def results(newer: list[Path]) -> list[Result]:
    old = side(BEFORE)
    draft = side({"Text": model(text=STRING)}, "v2_draft")
    both = replace(old, profiles={**old.profiles, **draft.profiles})
    return check_old_code([("1.0.0", both)], side(AFTER), newer)


@pytest.fixture(scope="module")
def result(results: list[Result]) -> Result:
    return results[0]


def test_exactly_the_uses_of_what_changed_fail(result: Result) -> None:
    assert result.uses > 3 * len(EXPECTED)
    assert sorted(result.failed) == sorted(EXPECTED)


def test_each_failure_is_attached_to_the_findings_that_predict_it(result: Result) -> None:
    found: dict[str, set[str]] = {use: set() for use in result.failed}
    for failure, findings in result.failures.items():
        found[failure.file] |= {each.rule for each in findings}
    assert found == EXPECTED
    assert result.unpredicted == []


def test_what_only_the_type_checker_refuses_still_runs(result: Result) -> None:
    # A removed property is still read if the peer sends it.
    read = {"read_NewSessionResponse_title", "read_NewSessionResponse_note"}
    assert result.only_type_checked == {"match_Block", *read}


def test_a_handler_of_a_removed_method_fails_although_its_class_can_be_created(result: Result) -> None:
    failures = [each for each in result.failures if each.file == "handle_agent_session_set_mode"]
    assert any("no base method was found" in each.message for each in failures)
    assert "handle_agent_session_set_mode" in result.stopped


def test_what_fails_when_it_is_run_is_found(result: Result) -> None:
    messages = [(each.file, each.message) for each in result.failures if each.file in result.stopped]
    assert any(use == "build_Gone" and message.startswith("AttributeError: ") for use, message in messages)
    assert any(use == "create_client" and message.startswith("TypeError: ") for use, message in messages)


def test_profiles_that_the_bindings_do_not_have_are_left_out(results: list[Result]) -> None:
    assert [each.profile for each in results] == ["v1"]


def test_code_that_is_right_for_other_bindings_fails_unpredicted(newer: list[Path]) -> None:
    old, today = check_old_code([("1.0.0", side(BEFORE))], side(BEFORE), newer)
    assert old.failed == today.failed >= set(EXPECTED)
    assert today.unpredicted


def uses_that_fail(report: Report, old: Schema, new: Schema) -> tuple[Failure, ...]:
    """Return the failures of generated code that an upgrade shows."""
    checked = check_uses(replace(report, user_code=UserCode("code", 0, 0, ())), side(old), side(new), ROOT)
    return checked.unpredicted


def test_an_upgrade_shows_that_a_message_is_read_as_another_member() -> None:
    shapes = {"anyOf": [{"title": name, **wraps(name)} for name in ("Circle", "Square")]}
    old = {"Circle": model(["radius"], radius=STRING), "Square": model(["side"], side=STRING), "Shape": shapes}
    new = old | {"Circle": model(radius=STRING)}
    failures = uses_that_fail(compare(side(old), side(new)), old, new)
    assert [each.file for each in failures] == ["<put_Square_in_Shape>", "<find_Square_in_Shape>"]
    assert failures[0].message == "AssertionError: It is different after it was dumped"


def test_an_upgrade_shows_generated_code_that_fails_without_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = {"Text": model(text=STRING, note=STRING)}, {"Text": model(text=STRING)}
    report, nothing = compare(side(old), side(new)), compare(side(new), side(new))
    assert uses_that_fail(report, old, new) == ()
    monkeypatch.setattr("codegen.compatibility.check.compare", lambda *_: nothing)
    failures = uses_that_fail(nothing, old, new)
    assert {failure.file for failure in failures} == {"<build_Text>", "<read_Text_note>"}
    assert ("return value.note", 2) in {(failure.source, failure.line) for failure in failures}
