"""Compares new schemas with the last commit, and checks the project's user code."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from codegen.diff import git
from codegen.diff.render.html import html
from codegen.diff.render.json import json_text
from codegen.diff.render.markdown import markdown
from codegen.diff.report import Report, compare
from codegen.diff.sources import read_side
from codegen.diff.user_code.check import check_user_code
from codegen.diff.verdict.accepted import read_accepted
from codegen.upgrade.capabilities import unused_capabilities
from codegen.upgrade.schemas import COMMIT, SCHEMA

USER_CODE = "tests/typing/user_code"
_FORMATS = {"report.md": markdown, "report.json": json_text, "report.html": html}


def report_since_commit(schema: Path, repository: Path) -> tuple[Report, list[str]]:
    """Return the report from the last commit to a folder of schemas, and the new capabilities that nothing requires.

    Raises:
        SourceError: the commit can't be read, or its user code can't be checked.
    """
    base, head = read_side(COMMIT, repository), replace(read_side(str(schema), repository), label=f"{SCHEMA}/")
    report = compare(replace(base, label=git.branch(repository)), head, read_accepted(head.accepted))
    if git.has(COMMIT, repository, USER_CODE):
        report = check_user_code(USER_CODE, report, base, head, repository)
    return report, unused_capabilities(base, head)


def report_files(report: Report) -> dict[str, bytes]:
    """Return the report in each format that is a file, by the file's name."""
    return {name: render(report).encode("utf-8") for name, render in _FORMATS.items()}
