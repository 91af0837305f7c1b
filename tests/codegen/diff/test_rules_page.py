"""codegen/diff/RULES.md explains every rule, and findings link to it; rules.toml raises or lowers a rule."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from codegen.diff.render.json import write_json
from codegen.diff.render.markdown import write_markdown
from codegen.diff.report import Report, compare
from codegen.diff.verdict.rules import RULES
from codegen.diff.verdict.verdicts import Verdicts
from codegen.errors import FileError
from tests.codegen.diff.rules_page import PAGE, write_page
from tests.support.codegen.build import STRING, model
from tests.support.diff.cases import around
from tests.support.diff.sides import side


def report() -> Report:
    return compare(side(around("request", model(x=STRING))), side(around("request", model(["x"], x=STRING, y=STRING))))


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text("utf-8") == write_page(), "Run .venv/bin/python -m tests.codegen.diff.rules_page"


def test_the_page_has_a_heading_for_every_rule() -> None:
    assert set(re.findall(r"^## (.*)$", PAGE.read_text("utf-8"), re.MULTILINE)) == set(RULES)


def test_a_finding_links_to_its_rule() -> None:
    link = "/blob/main/codegen/diff/RULES.md#property-became-required"
    text = write_markdown(report())
    assert "[`property-became-required`]," in text
    assert re.search(rf"^\[`property-became-required`\]: https://.*{link}$", text, re.MULTILINE)
    values = json.loads(write_json(report()))
    assert link in {finding["rule"]: finding["help"] for finding in values["findings"]}["property-became-required"]


@pytest.fixture
def write_rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    path = tmp_path / "rules.toml"
    monkeypatch.setattr("codegen.diff.verdict.levels.RULES_TOML", path)
    return path.write_text


@pytest.mark.parametrize(
    ("rule", "level", "letters", "bump"),
    [
        ("property-became-required", "risky", "SRRSS", "minor"),
        ("property-became-required", "safe", "SSSSS", "minor"),
        ("property-became-required", "breaking", "SBBSS", "major"),
        ("property-optional-added", "risky", "RRRRR", "major"),
    ],
)
def test_a_rule_can_be_lowered_or_raised_and_the_report_says_so(
    write_rules: Any, rule: str, level: str, letters: str, bump: str
) -> None:
    write_rules(f'[rules]\n"{rule}" = "{level}"\n"type-changed" = "safe"\n')
    result = report()
    assert {finding.rule: finding.verdicts for finding in result.findings}[rule] == Verdicts.of(letters)
    assert result.bump == bump
    assert result.notes == (f"codegen/rules.toml says: {rule} is {level}.",)


@pytest.mark.parametrize("entry", ['"no-such-rule" = "safe"', '"type-changed" = "minor"'])
def test_an_unknown_rule_or_level_is_an_error_about_the_file(write_rules: Any, entry: str) -> None:
    write_rules(f"[rules]\n{entry}\n")
    with pytest.raises(FileError, match=r"codegen/rules\.toml#/rules/"):
        report()
