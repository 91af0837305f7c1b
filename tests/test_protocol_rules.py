"""Every rule of protocol-rules.md has tests, every test that names a rule names one of them, and all are linked."""

from __future__ import annotations

from tools.specification.rules import PAGE, RULE, files_by_rule, render_page

RULES = [int(number) for number in RULE.findall(PAGE.read_text("utf-8"))]


def test_rules_are_numbered_without_gaps() -> None:
    assert list(range(1, len(RULES) + 1)) == RULES


def test_every_rule_has_a_test_and_every_tested_rule_exists() -> None:
    assert sorted(files_by_rule()) == RULES


def test_the_page_links_the_tests_of_every_rule() -> None:
    assert PAGE.read_text("utf-8") == render_page(), "Run make specification."
