"""Writes the report as JSON for programs. `report.schema.json` in this folder describes the format."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from codegen.diff.render.sentences import rule_url
from codegen.diff.report import Report, propose_renames
from codegen.diff.verdict.findings import Finding

FORMAT_VERSION = 1
_TEXTS = ("rule", "sentence", "fingerprint", "profile", "place", "subject", "flow")
_LISTS = ("symbols", "writers", "readers", "methods", "code")
_OPTIONAL = ("before", "after", "accepted")


def write_json(report: Report) -> str:
    """Write the report as JSON."""
    values = {
        "format": FORMAT_VERSION,
        "base": report.base,
        "head": report.head,
        "worst": report.worst.word,
        "severity": report.severity.word,
        "bump": report.bump,
        "notes": report.notes,
        "profiles": report.profiles,
        "docsOnly": report.docs_only,
        "findings": [_write_finding(finding) for finding in report.findings],
        "renames": [asdict(rename) for rename in propose_renames(report)],
        "userCode": asdict(report.user_code) if report.user_code else None,
    }
    return json.dumps(values, indent=2) + "\n"


def _write_finding(finding: Finding) -> dict[str, Any]:
    return {
        **{key: getattr(finding, key) for key in (*_TEXTS, *_LISTS)},
        **{key: getattr(finding, key) or None for key in _OPTIONAL},
        "help": rule_url(finding.rule),
        "todo": finding.todo,
        "reportsOnly": finding.reports_only,
        "pointer": _write_pointer(finding),
        "places": [{"subject": place.subject, "pointer": _write_pointer(place)} for place in finding.places],
        "worst": finding.worst.word,
        "severity": finding.severity.word,
        "verdicts": {axis: verdict.word for axis, verdict in finding.verdicts._asdict().items()},
        "refused": {axis: text or None for axis, text in zip(("old_peer", "new_peer"), finding.refused, strict=True)},
        "failures": [asdict(failure) for failure in finding.failures],
    }


def _write_pointer(finding: Finding) -> dict[str, str | None]:
    return {"old": finding.old_pointer or None, "new": finding.new_pointer or None}
