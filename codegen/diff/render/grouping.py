"""Counts the findings of a report and summarises them in sentences, for the report itself and for `make upgrade`."""

from __future__ import annotations

from codegen.diff.report import Report
from codegen.diff.verdict.findings import Finding
from codegen.diff.verdict.verdicts import Severity, Verdict


def by_profile(report: Report) -> dict[str, list[Finding]]:
    """Return the findings of each compared profile."""
    return {name: [each for each in report.findings if each.profile == name] for name in report.profiles}


def change_line(finding: Finding) -> str:
    """Return the old and the new text of a finding on one line."""
    if finding.before and finding.after:
        return f"{finding.before} -> {finding.after}"
    return f"- {finding.before}" if finding.before else f"+ {finding.after}" if finding.after else ""


def headline(report: Report) -> str:
    """Return what a reviewer reads first: about the stable profile only."""
    if not report.findings:
        return "Only descriptions changed." if any(report.docs_only.values()) else "Nothing changed."
    if not report.stable:
        return "Nothing in the stable profile changed."
    if report.worst is Verdict.SAFE:
        has_accepted = any(each.worst is not Verdict.SAFE for each in report.stable)
        return f"All changes in the stable profile are safe{' or accepted' if has_accepted else ''}."
    where = " for Python code, but none for messages" if report.severity is Severity.PYTHON else ""
    return f"The stable profile has {report.worst.word} changes{where}."


def summary(report: Report) -> str:
    """Return the report in one line, with separate counts for the stable profile and the others."""
    stable = counts_in_words(report.stable)
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
    return {verdict: sum(each.worst is verdict for each in findings) for verdict in sorted(Verdict, reverse=True)}


def counts_in_words(findings: list[Finding]) -> str:
    """Return the counts in words, without zeros."""
    return ", ".join(f"{count} {verdict.word}" for verdict, count in counts(findings).items() if count)


def number(count: int, noun: str) -> str:
    """Return a count with its noun: `no files`, `1 file`, `2 files`."""
    return f"{count or 'no'} {noun}{'' if count == 1 else 's'}"
