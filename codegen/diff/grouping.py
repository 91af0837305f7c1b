"""Findings in the order and the groups a reviewer reads them in: the worst first, by method."""

from __future__ import annotations

from codegen.diff.failures import UserCode
from codegen.diff.findings import Finding
from codegen.diff.report import Report
from codegen.diff.verdicts import TITLES, Verdict

# With more methods than this a definition is shared, and listed once under its own name.
_FEW = 2


def groups(findings: list[Finding]) -> dict[str, list[Finding]]:
    """Findings by their heading, headings and findings both with the worst first."""
    found: dict[str, list[Finding]] = {}
    for each in sorted(findings, key=lambda each: -each.worst):
        found.setdefault(heading(each), []).append(each)
    return found


def heading(finding: Finding) -> str:
    """The methods a finding is about; of a definition that many share, or none has, the definition."""
    if 0 < len(finding.methods) <= _FEW:
        return ", ".join(finding.methods)
    count = f"in {len(finding.methods)} methods" if finding.methods else "in no method"
    return f"{finding.place} ({count})"


def by_profile(report: Report) -> dict[str, list[Finding]]:
    """Every profile that was compared, with its findings."""
    return {name: [each for each in report.findings if each.profile == name] for name in report.profiles}


def unsafe_axes(finding: Finding) -> dict[str, Verdict]:
    """The axes that are not safe, by their titles."""
    return {
        TITLES[axis]: verdict for axis, verdict in finding.verdicts.by_axis().items() if verdict is not Verdict.SAFE
    }


def change(finding: Finding) -> str:
    """What was there and what is, on one line."""
    if finding.before and finding.after:
        return f"{finding.before} -> {finding.after}"
    return f"- {finding.before}" if finding.before else f"+ {finding.after}" if finding.after else ""


def summary(report: Report) -> str:
    """The report in one line. What only reports is counted apart, because nothing follows from it."""
    stable = [each for each in report.findings if not each.reports_only]
    others = [each for each in report.findings if each.reports_only]
    docs = sum(report.docs_only.values())
    counts = f"Stable: {_counts(stable)}. Unstable and drafts: {_counts(others)}."
    return f"{counts} {docs} descriptions. Recommended version bump: {report.bump}.{_user_code(report.user_code)}"


def _user_code(checked: UserCode | None) -> str:
    if checked is None:
        return ""
    alarm = f", {len(checked.unpredicted)} of them not predicted by any finding" if checked.unpredicted else ""
    return f" User code: {checked.failures} failures in {checked.files} files{alarm}."


def _counts(findings: list[Finding]) -> str:
    found = [(sum(each.worst is verdict for each in findings), verdict) for verdict in sorted(Verdict, reverse=True)]
    return ", ".join(f"{count} {verdict.word}" for count, verdict in found if count) or "nothing"


def note(profile: str, findings: list[Finding]) -> str:
    """What a profile's heading says beside its name."""
    draft = any(each.reports_only for each in findings)
    return f"{profile}, reported only: unstable or a draft" if draft else profile
