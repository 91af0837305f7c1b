"""Large reports."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

from codegen.__main__ import SCHEMA
from codegen.diff.report import Report, UserCode, compare
from codegen.diff.verdict.findings import Failure
from codegen.diff.verdict.verdicts import Verdict
from tests.support.diff.sides import side_of_schemas

_FILES = ("schema", "schema.unstable")


@cache
def large() -> Report:
    """Compare the real stable and unstable schemas, in both directions, for a report with all verdicts and flows."""
    stable, unstable = (json.loads((SCHEMA / f"v1/{name}.json").read_text("utf-8")) for name in _FILES)
    branch = "a/branch/with/a/name/that-is-as-long-as-those-of-branches-that-tools-make"
    base = side_of_schemas({"v1": unstable, "v1_unstable": stable}, branch, "1.0.0")
    return compare(base, side_of_schemas({"v1": stable, "v1_unstable": unstable}, "head", "1.1.0"))


def failing(predicted: int, unpredicted: int, message: str = 'Module has no attribute "X"') -> Report:
    """Return the large report with this many failures for each breaking finding, and unpredicted ones."""
    findings = tuple(
        replace(
            finding,
            failures=_failures(finding.fingerprint, predicted, message) if finding.worst is Verdict.BREAKING else (),
        )
        for finding in large().findings
    )
    others = _failures("unpredicted", unpredicted, message)
    count = sum(len(finding.failures) for finding in findings) + len(others)
    return replace(large(), findings=findings, user_code=UserCode("user/code", 7, count, others))


def _failures(name: str, count: int, message: str) -> tuple[Failure, ...]:
    return tuple(Failure(f"user/code/{name}.py", line, f"x = {line}", message) for line in range(1, count + 1))
