"""Links each rule of docs/project/protocol-rules.md to its tests."""

from __future__ import annotations

import re
from pathlib import Path

from tools.paths import ROOT
from tools.specification.statements import running_tests

PAGE = ROOT / "docs" / "project" / "protocol-rules.md"
RULE = re.compile(r"^### Rule (\d+): .+\n(?:(?!^#).*\n)*", re.MULTILINE)
_TEST = re.compile(r"test_rule_(\d+)_")


def files_by_rule() -> dict[int, list[Path]]:
    """Return the files that test each rule, by the names of their tests."""
    found: dict[int, list[Path]] = {}
    for file in sorted((ROOT / "tests").rglob("test_*.py")):
        for rule in sorted({int(match[1]) for name in running_tests(file) if (match := _TEST.match(name))}):
            found.setdefault(rule, []).append(file)
    return found


def render_page() -> str:
    """Return the page of the rules, with the links to today's tests."""
    files = files_by_rule()
    return RULE.sub(lambda rule: _linked(rule[0], files.get(int(rule[1]), [])), PAGE.read_text("utf-8"))


def _linked(rule: str, files: list[Path]) -> str:
    text = re.sub(r"^Tests: .*\n", "", rule, flags=re.MULTILINE).rstrip()
    links = ", ".join(f"[`{file.stem}`](../../{file.relative_to(ROOT).as_posix()})" for file in files)
    return f"{text}\n\nTests: {links}\n\n"
