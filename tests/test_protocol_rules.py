"""Every rule of protocol-rules.md has tests, and every test that names a rule names one of them."""

from __future__ import annotations

import re

from tools.paths import ROOT
from tools.specification.statements import running_tests

PAGE = ROOT / "docs" / "project" / "protocol-rules.md"
RULES = [int(number) for number in re.findall(r"^### Rule (\d+): ", PAGE.read_text("utf-8"), re.MULTILINE)]
_TEST = re.compile(r"test_rule_(\d+)_")


def test_rules_are_numbered_without_gaps() -> None:
    assert list(range(1, len(RULES) + 1)) == RULES


def test_every_rule_has_a_test_and_every_tested_rule_exists() -> None:
    names = [name for file in (ROOT / "tests").rglob("test_*.py") for name in running_tests(file)]
    tested = {int(rule[1]) for name in names if (rule := _TEST.match(name))}
    assert sorted(tested) == RULES
