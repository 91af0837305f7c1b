"""The report for a terminal: grouped by method, the worst first, with one line for each safe finding."""

from __future__ import annotations

from codegen.diff.proposed_renames import INVITATION, proposed_text
from codegen.diff.render.grouping import (
    FLOWS,
    by_profile,
    change_line,
    groups,
    number,
    profile_title,
    summary,
    unsafe_axes,
)
from codegen.diff.report import Report
from codegen.diff.verdict.failures import UNPREDICTED, Failure
from codegen.diff.verdict.findings import Finding
from codegen.diff.verdict.verdicts import Verdict

_COLOURS = {Verdict.BREAKING: "31", Verdict.RISKY: "33", Verdict.SAFE: "32"}
_BOLD, _FAINT = "1", "2"
_INDENT = " " * 13


def terminal(report: Report, *, colour: bool) -> str:
    """Render the report as plain text, or with ANSI colours if `colour` is true."""
    lines = [f"{report.base} -> {report.head}", *(f"note: {each}" for each in report.notes)]
    if report.unpredicted:
        lines += ["", _painted(UNPREDICTED, _COLOURS[Verdict.BREAKING], colour)]
        lines += [line for each in report.unpredicted for line in _failure(each, "  ")]
    for profile, findings in by_profile(report).items():
        docs = report.docs_only[profile]
        lines += ["", _painted(profile_title(profile), _BOLD, colour)] if findings or docs else []
        for title, members in groups(findings).items():
            lines.append(f"  {_painted(title, _BOLD, colour)}")
            lines += [line for each in members for line in _finding(each, colour)]
        lines += [f"  {number(docs, 'description')} changed"] if docs else []
    if entries := proposed_text(report):
        lines += ["", _painted(INVITATION, _BOLD, colour), "", *entries.splitlines()]
    return "\n".join([*lines, "", summary(report), ""])


def _finding(finding: Finding, colour: bool) -> list[str]:
    verdict = _painted(f"{finding.worst.word:<8}", _COLOURS[finding.worst], colour)
    first = f"    {verdict} {finding.subject}: {finding.sentence}"
    if finding.worst is Verdict.SAFE:
        return [f"{first} {_painted(change_line(finding), _FAINT, colour)}".rstrip()]
    axes = "; ".join(f"{title}: {each.word}" for title, each in unsafe_axes(finding).items())
    about = _painted(f"{finding.rule}, {FLOWS[finding.flow]}, #{finding.fingerprint}", _FAINT, colour)
    accepted = f"accepted: {finding.accepted}" if finding.accepted else ""
    lines = [f"{_INDENT}{each}" for each in (change_line(finding), axes, accepted, about) if each]
    return [first, *lines, *(line for each in finding.failures for line in _failure(each, _INDENT))]


def _failure(failure: Failure, indent: str) -> list[str]:
    return [f"{indent}{failure.sentence}", f"{indent}    {failure.source}"]


def _painted(text: str, code: str, colour: bool) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if colour and text else text
