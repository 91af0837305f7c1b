"""The report as JSON for programs. `report.schema.json` in this folder describes the format."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from codegen.diff.proposed_renames import proposed_renames
from codegen.diff.report import Report
from codegen.diff.verdict.advice import advice
from codegen.diff.verdict.findings import Finding

FORMAT_VERSION = 1


def json_text(report: Report) -> str:
    """Render the report as JSON."""
    return json.dumps(json_values(report), indent=2) + "\n"


def json_values(report: Report) -> dict[str, Any]:
    """Return the report as JSON values."""
    return {
        "format": FORMAT_VERSION,
        "base": report.base,
        "head": report.head,
        "worst": report.worst.word,
        "severity": report.severity.word,
        "bump": report.bump,
        "notes": list(report.notes),
        "profiles": list(report.profiles),
        "docsOnly": report.docs_only,
        "findings": [_finding(each) for each in report.findings],
        "renames": [asdict(each) for each in proposed_renames(report)],
        "userCode": asdict(report.user_code) if report.user_code else None,
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "sentence": finding.sentence,
        "fingerprint": finding.fingerprint,
        "profile": finding.profile,
        "reportsOnly": finding.reports_only,
        "place": finding.place,
        "subject": finding.subject,
        "pointer": _pointer(finding),
        "places": [{"subject": each.subject, "pointer": _pointer(each)} for each in finding.places],
        "symbols": list(finding.symbols),
        "flow": finding.flow,
        "writers": list(finding.writers),
        "readers": list(finding.readers),
        "methods": list(finding.methods),
        "before": finding.before or None,
        "after": finding.after or None,
        "worst": finding.worst.word,
        "severity": finding.severity.word,
        "verdicts": {axis: verdict.word for axis, verdict in finding.verdicts.by_axis().items()},
        "todo": advice(finding),
        "refused": dict(zip(("old_peer", "new_peer"), (each or None for each in finding.refused), strict=True)),
        "code": list(finding.code),
        "accepted": finding.accepted or None,
        "failures": [asdict(each) for each in finding.failures],
    }


def _pointer(finding: Finding) -> dict[str, str | None]:
    return {"old": finding.old or None, "new": finding.new or None}
