"""Large reports."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

from codegen.__main__ import SCHEMA
from codegen.diff.report import Report, compare
from codegen.diff.sources import Side, Snapshot
from codegen.diff.verdict.failures import Failure, UserCode
from codegen.diff.verdict.verdicts import Verdict
from codegen.regen import read_schema


@cache
def large() -> Report:
    """Compare the real stable and unstable schemas, in both directions, for a report with all verdicts and flows."""
    stable, unstable = (_snapshot(name) for name in ("schema", "schema.unstable"))
    base = Side(
        "a/branch/with/a/name/that-is-as-long-as-those-of-branches-that-tools-make",
        "1.0.0",
        {"v1": unstable, "v1_unstable": stable},
    )
    return compare(base, Side("head", "1.1.0", {"v1": stable, "v1_unstable": unstable}))


def failing(predicted: int, unpredicted: int, message: str = 'Module has no attribute "X"') -> Report:
    """Return the large report with this many failures for each breaking finding, and unpredicted ones."""
    findings = tuple(
        replace(
            each, failures=_failures(each.fingerprint, predicted, message) if each.worst is Verdict.BREAKING else ()
        )
        for each in large().findings
    )
    others = _failures("unpredicted", unpredicted, message)
    count = sum(len(each.failures) for each in findings) + len(others)
    return replace(large(), findings=findings, user_code=UserCode("user/code", 7, count, others))


def _failures(name: str, count: int, message: str) -> tuple[Failure, ...]:
    return tuple(Failure(f"user/code/{name}.py", line, f"x = {line}", message) for line in range(1, count + 1))


def _snapshot(name: str) -> Snapshot:
    raw = json.loads((SCHEMA / "v1" / f"{name}.json").read_text("utf-8"))
    return Snapshot(f"v1/{name}.json", raw, read_schema(raw, "v1"))
