"""Orders and groups findings, and writes the sentences that summarise them, for all formats."""

from __future__ import annotations

from codegen.diff.report import STABLE, Report
from codegen.diff.verdict.findings import BOTH, NOWHERE, TO_AGENT, TO_CLIENT, Finding
from codegen.diff.verdict.verdicts import AXES, Verdict

REPORTED_ONLY = (
    "Unstable and draft profiles are for information only: they may change at any time and never fail a check."
)
WORST_FIRST = sorted(Verdict, reverse=True)
FLOWS = {TO_AGENT: "client -> agent", TO_CLIENT: "agent -> client", BOTH: "both ways", NOWHERE: "never sent"}
# A definition that more methods use than this is listed once, under its own name.
_FEW = 2
_HEADLINES = {
    Verdict.BREAKING: "The stable profile has breaking changes.",
    Verdict.RISKY: "The stable profile has risky changes.",
    Verdict.SAFE: "All changes in the stable profile are safe.",
}


def groups(findings: list[Finding]) -> dict[str, list[Finding]]:
    """Group findings by their headings, with the worst group first and the worst finding first in each group."""
    found: dict[str, list[Finding]] = {}
    for each in sorted(findings, key=lambda each: -each.worst):
        found.setdefault(heading(each), []).append(each)
    return found


def heading(finding: Finding) -> str:
    """Return the methods that a finding is about, or its definition if many methods or none use it."""
    if 0 < len(finding.methods) <= _FEW:
        return ", ".join(finding.methods)
    if finding.place == finding.profile:
        return "The whole profile"
    if finding.methods:
        return f"{finding.place} (in {len(finding.methods)} methods)"
    return f"{finding.place} ({'in no method' if finding.flow == NOWHERE else 'in the message envelope'})"


def by_profile(report: Report) -> dict[str, list[Finding]]:
    """Return the findings of each compared profile."""
    return {name: [each for each in report.findings if each.profile == name] for name in report.profiles}


def unsafe_axes(finding: Finding) -> dict[str, Verdict]:
    """Return the verdicts that aren't safe, by the titles of their axes, the worst first."""
    axes = sorted(finding.verdicts.by_axis().items(), key=lambda axis: -axis[1])
    return {_title(finding, axis): verdict for axis, verdict in axes if verdict is not Verdict.SAFE}


def _title(finding: Finding, axis: str) -> str:
    """Return the title of an axis, with the role whose code it is about unless both are affected."""
    roles = finding.roles(axis)
    return f"{roles[0]}s' {AXES[axis]}" if len(roles) == 1 else AXES[axis]


def change_line(finding: Finding) -> str:
    """Return the old and the new text of a finding on one line."""
    if finding.before and finding.after:
        return f"{finding.before} -> {finding.after}"
    return f"- {finding.before}" if finding.before else f"+ {finding.after}" if finding.after else ""


def headline(report: Report) -> str:
    """Return the sentence that a reviewer reads first. It is about the stable profile only."""
    stable = [each for each in report.findings if not each.reports_only]
    if not report.findings:
        return "Only descriptions changed." if any(report.docs_only.values()) else "Nothing changed."
    if not stable:
        return "Nothing in the stable profile changed."
    if report.worst is Verdict.SAFE and any(each.worst is not Verdict.SAFE for each in stable):
        return "All changes in the stable profile are safe or accepted."
    return _HEADLINES[report.worst]


def summary(report: Report) -> str:
    """Return the report in one line, with separate counts for the stable profile and the others."""
    stable = counts_in_words([each for each in report.findings if not each.reports_only])
    others = counts_in_words([each for each in report.findings if each.reports_only])
    docs = sum(report.docs_only.values())
    counted = [f"Stable profile: {stable or 'no changes'}.", f"Unstable and draft profiles: {others or 'no changes'}."]
    descriptions = [f"{number(docs, 'description')} changed."] if docs else []
    bump = f"Recommended version bump: {report.bump}."
    parts = [headline(report), *(counted if report.findings else []), *descriptions, bump, user_code_line(report)]
    return " ".join(filter(None, parts))


def user_code_line(report: Report) -> str:
    """Return the result of checking user code in a sentence; empty if it wasn't checked."""
    checked = report.user_code
    if checked is None:
        return ""
    unpredicted = f", {len(checked.unpredicted)} that no finding predicts" if checked.unpredicted else ""
    return f"User code: {number(checked.failures, 'failure')} in {number(checked.files, 'file')}{unpredicted}."


def counts(findings: list[Finding]) -> dict[Verdict, int]:
    """Count the findings with each verdict, the worst first."""
    return {verdict: sum(each.worst is verdict for each in findings) for verdict in WORST_FIRST}


def counts_in_words(findings: list[Finding]) -> str:
    """Return the counts in words, without zeros."""
    return ", ".join(f"{count} {verdict.word}" for verdict, count in counts(findings).items() if count)


def number(count: int, noun: str) -> str:
    """Return a count with its noun: `no files`, `1 file`, `2 files`."""
    return f"{count or 'no'} {noun}{'' if count == 1 else 's'}"


def profile_title(profile: str) -> str:
    """Return a profile's name as a heading."""
    return profile if profile == STABLE else f"{profile} (for information only)"
