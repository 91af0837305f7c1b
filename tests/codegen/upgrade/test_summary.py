"""The text that an upgrade prints."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from codegen.diff.report import compare
from codegen.diff.verdict.findings import Failure
from codegen.upgrade.schemas import Schemas
from codegen.upgrade.summary import Changes, summarise
from tests.support.codegen.build import enum, write_schema
from tests.support.codegen.pinning import pin
from tests.support.codegen.refusal_base import BASE
from tests.support.diff.cases import around, holds
from tests.support.diff.sides import side


def test_a_line_of_user_code_that_several_findings_predict_is_shown_once(tmp_path: Path) -> None:
    holder = around("request", holds(enum("a", "b", "c")))
    report = compare(side(holder), side(around("request", holds(enum("a")))))
    failure = Failure("agent.py", 3, "kind = value", "It has no such value.")
    findings = tuple(replace(finding, failures=(failure,)) for finding in report.findings)
    assert len(findings) == 2
    pin(write_schema(tmp_path, BASE))
    schemas = Schemas(
        base=tmp_path,
        head=tmp_path,
        source="folder:new",
        lines=[],
        profiles={},
        package={},
        methods="",
        unreadable={},
        version="1.0.0",
    )
    out = summarise(schemas, Changes(replace(report, findings=findings), "2.0.0", {}, {}), [])
    assert out.count(f"     {failure.sentence}\n         {failure.source}\n") == 1
    assert all(f"#{finding.fingerprint}" in out for finding in findings)
