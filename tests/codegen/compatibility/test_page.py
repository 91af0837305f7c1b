"""The page says which share of the uses survives, and which findings predict the failures of the others."""

from __future__ import annotations

from dataclasses import replace

from codegen.compatibility.check import Result
from codegen.compatibility.command import compatibility_page, section, table_row
from codegen.diff.report import compare
from codegen.diff.verdict.findings import Failure, Finding
from tests.support.codegen.build import STRING, model
from tests.support.diff.sides import side

GONE = {f"Gone{letter}": model(text=STRING) for letter in "ABCDEFG"}
FINDINGS = compare(side({"Kept": model(), **GONE}), side({"Kept": model()})).findings


Fails = tuple[Failure, tuple[Finding, ...], bool]


def failure(use: str, *findings: Finding, runs: bool = False) -> Fails:
    return Failure(use, 1, "", f"{use} is wrong{' for the type checker' if runs else ''}"), findings, runs


def result(uses: int, *failures: Fails, release: str = "1.3.0", profile: str = "v1") -> Result:
    stopped = {found.file for found, _, runs in failures if not runs}
    return Result(release, profile, uses, {found: findings for found, findings, _ in failures}, stopped)


def test_a_row_has_the_share_of_each_profile_rounded_down() -> None:
    profiles = ["v1", "v1_unstable", "v2_draft"]
    found = [result(1000, failure("a"), profile="v2_draft"), result(3)]
    assert table_row("1.3.0", found, profiles) == "| 1.3.0 | 100 % |  | 99.9 % |"
    assert table_row("1.3.0", [result(3000, failure("a"))], ["v1"]) == "| 1.3.0 | 99.9 % |"
    assert table_row("1.3.0", [result(4, failure("a"))], ["v1"]) == "| 1.3.0 | 75 % |"


def test_a_row_has_a_second_share_if_code_that_runs_does_not_type_check() -> None:
    found = result(4, failure("a"), failure("b", runs=True), failure("c", runs=True))
    assert table_row("1.3.0", [found], ["v1"]) == "| 1.3.0 | 75 % / 25 % |"
    assert table_row("1.3.0", [result(4, failure("b", runs=True))], ["v1"]) == "| 1.3.0 | 100 % / 75 % |"


def test_failures_are_listed_by_what_changed_with_a_few_names() -> None:
    failures = [failure(f"use {each.subject}", each, runs=True) for each in FINDINGS]
    text = section(result(10, *failures, failure("run", FINDINGS[0])))
    names = "`GoneA`, `GoneB`, `GoneC`, `GoneD`, `GoneE` and 2 more"
    assert f"| The definition was removed. | 8 | {names} |" in text
    assert "8 of 10 uses fail, 7 only in the type checker</summary>" in text


def test_an_unpredicted_failure_is_shown_with_its_message() -> None:
    text = section(result(10, failure("read_Text_text"), failure("a", FINDINGS[0])))
    assert "**The report is incomplete: no finding predicts these failures.**" in text
    assert "- `read_Text_text`: read_Text_text is wrong" in text
    assert "- `a`" not in text


def test_the_page_has_a_row_for_each_release_and_details_of_those_with_failures() -> None:
    found = [result(10, failure("a", FINDINGS[0])), result(10, release="1.4.0")]
    page = compatibility_page([found[0], replace(found[0], profile="v1_unstable"), found[1]], "1.4.0")
    assert page.startswith("<!-- Written by `make compatibility`. Do not edit. -->\n# Compatibility\n")
    assert (
        "| Schema of release | `v1` | `v1_unstable` |\n|---|--:|--:|\n| 1.3.0 | 90 % | 90 % |\n| 1.4.0 | 100 % |  |\n"
        in page
    )
    assert page.count("\n### ") == 1
    assert f"\n### 1.3.0\n\n{section(found[0])}\n\n<details>" in page
    assert page.endswith("</details>\n")
