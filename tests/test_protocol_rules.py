"""Every rule of protocol-rules.md links its tests, and every test that names a rule names one of them."""

from __future__ import annotations

import re
from pathlib import Path

_ROOT = Path(__file__).parents[1]
_PAGE = _ROOT / "docs" / "project" / "protocol-rules.md"
_RULE = re.compile(r"^### Rule (\d+): .+\n((?:(?!^#).*\n)*)", re.MULTILINE)
_TEST = re.compile(r"^\s*(?:async )?def test_rule_(\d+)_", re.MULTILINE)


def _tests() -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for file in sorted((_ROOT / "tests").rglob("test_*.py")):
        for rule in sorted({int(number) for number in _TEST.findall(file.read_text(encoding="utf-8"))}):
            found.setdefault(rule, []).append(file.relative_to(_ROOT).as_posix())
    return found


def links(files: list[str]) -> str:
    """The line that links the tests of a rule."""
    return "Tests: " + ", ".join(f"[`{Path(file).stem}`](../../{file})" for file in files)


RULES = {int(number): text for number, text in _RULE.findall(_PAGE.read_text(encoding="utf-8"))}
TESTS = _tests()


def test_rules_are_numbered_without_gaps() -> None:
    assert list(RULES) == list(range(1, len(RULES) + 1))


def test_every_rule_has_a_test_and_every_tested_rule_exists() -> None:
    assert sorted(TESTS) == sorted(RULES)


def test_every_rule_links_the_files_that_test_it() -> None:
    for rule, text in RULES.items():
        assert text.rstrip().splitlines()[-1] == links(TESTS[rule])
