"""The code of a breaking finding passes the type checker with the base's bindings, and fails with the head's."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from codegen.diff.report import compare
from codegen.diff.user_code.type_checker import run_mypy
from codegen.diff.verdict.findings import TO_AGENT, Finding
from codegen.diff.verdict.rules import RULES
from codegen.diff.verdict.verdicts import Verdicts
from codegen.regen import regenerate
from tests.codegen.diff.cases import CASES, METHOD_CASES
from tests.support.codegen.build import Schema, acp_schema, write_schema
from tests.support.diff.cases import prefix, prefixed
from tests.support.diff.sides import side
from tools.paths import ROOT

pytestmark = pytest.mark.slow
HEAD = """\
from datetime import datetime
from typing import Any, Literal

from acp_bindings.v1 import *
from acp_runtime.models.scalars import *

"""


def use(number: int, line: str) -> str:
    """Return a function with a line of code, whose comment names the type that it uses."""
    given = re.search(r"  # (\w+: \w+)$", line)
    return f"def use_{number}({given[1] if given else ''}) -> None:\n    {line}\n"


@pytest.mark.test_all
def test_the_code_of_a_breaking_finding_fails_with_the_new_bindings_alone(tmp_path: Path) -> None:
    schemas = {label: definitions(label) for label in ("old", "new")}
    findings = compare(side(schemas["old"]), side(schemas["new"])).findings
    lines = [line for finding in findings for place in finding.places for line in place.code]
    program = HEAD + "".join(use(number, line) for number, line in enumerate(lines))
    assert failing(tmp_path / "old", schemas["old"], program) == []
    new = failing(tmp_path / "new", schemas["new"], program)
    assert [line for line in lines if line not in new] == []


def definitions(label: str) -> Schema:
    """Return the definitions of all cases."""
    return {
        f"{prefix(case)}{name}": prefixed(definition, prefix(case))
        for case in CASES
        for name, definition in case.definitions(label).items()
    }


def failing(folder: Path, schema: Schema, program: str) -> list[str]:
    """Return the lines of a program that the type checker refuses with the bindings of a schema."""
    regenerate(write_schema(folder / "schema", acp_schema(schema)), folder / "generated", pinned=False)
    (folder / "code").mkdir()
    (folder / "code/program.py").write_text(program, "utf-8")
    problems = run_mypy(folder, "code", [folder / "generated", ROOT / "runtime"])
    return [program.splitlines()[line - 1].strip() for line in sorted({problem.line for problem in problems})]


@pytest.mark.parametrize("rule", RULES)
def test_each_breaking_finding_says_who_has_to_do_what(rule: str) -> None:
    letters = {case.letters for case in CASES if case.rule == rule}
    letters |= {case.letters for case in METHOD_CASES if case.rule == rule}
    for letter in letters:
        finding = Finding(rule, "v1", "X", "", "", "X", Verdicts.of(letter), flow=TO_AGENT)
        assert bool(finding.todo) is ("B" in letter)
