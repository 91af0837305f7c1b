"""What all formats say alike: findings in the order and the groups a reviewer reads them in, and what they come to."""

from __future__ import annotations

from codegen.diff.report import STABLE, Report
from codegen.diff.verdict.findings import BOTH, NOWHERE, TO_AGENT, TO_CLIENT, Finding
from codegen.diff.verdict.verdicts import TITLES, Verdict

REPORTED_ONLY = "Unstable profiles and drafts are reported only: they promise nothing, and never fail a check."
WORST_FIRST = sorted(Verdict, reverse=True)
FLOWS = {TO_AGENT: "client -> agent", TO_CLIENT: "agent -> client", BOTH: "both ways", NOWHERE: "never sent"}
# With more methods than this a definition is shared, and listed once under its own name.
_FEW = 2
_HEADLINES = {
    Verdict.BREAKING: "The stable profile breaks.",
    Verdict.RISKY: "Nothing in the stable profile breaks, but something is risky.",
    Verdict.SAFE: "Everything in the stable profile is safe.",
}


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
    if finding.place == finding.profile:
        return "The whole profile"
    if finding.methods:
        return f"{finding.place} (in {len(finding.methods)} methods)"
    return f"{finding.place} ({'in no method' if finding.flow == NOWHERE else 'in the envelope'})"


def by_profile(report: Report) -> dict[str, list[Finding]]:
    """Every profile that was compared, with its findings."""
    return {name: [each for each in report.findings if each.profile == name] for name in report.profiles}


def unsafe_axes(finding: Finding) -> dict[str, Verdict]:
    """The axes that are not safe by their titles, and whose code they are about, the worst first."""
    axes = sorted(finding.verdicts.by_axis().items(), key=lambda axis: -axis[1])
    return {_title(finding, axis): verdict for axis, verdict in axes if verdict is not Verdict.SAFE}


def _title(finding: Finding, axis: str) -> str:
    doers = " and ".join(f"{role}s" for role in finding.doers(axis))
    return f"{TITLES[axis]} by {doers}" if doers else TITLES[axis]


def change(finding: Finding) -> str:
    """What was there and what is, on one line."""
    if finding.before and finding.after:
        return f"{finding.before} -> {finding.after}"
    return f"- {finding.before}" if finding.before else f"+ {finding.after}" if finding.after else ""


def headline(report: Report) -> str:
    """What a reviewer has to know first, in a sentence about the stable profile alone."""
    stable = [each for each in report.findings if not each.reports_only]
    if not report.findings:
        return "Only descriptions changed." if any(report.docs_only.values()) else "Nothing changed."
    if not stable:
        return "Nothing in the stable profile changed."
    if report.worst is Verdict.SAFE and any(each.worst is not Verdict.SAFE for each in stable):
        return "Everything in the stable profile is safe or accepted."
    return _HEADLINES[report.worst]


def summary(report: Report) -> str:
    """The report in one line. What only reports is counted apart, because nothing follows from it."""
    stable = counted([each for each in report.findings if not each.reports_only])
    others = counted([each for each in report.findings if each.reports_only])
    docs = sum(report.docs_only.values())
    found = [f"Stable: {stable or 'nothing'}.", f"Unstable and drafts: {others or 'nothing'}."]
    words = [f"{number(docs, 'description')} changed."] if docs else []
    bump = f"Recommended version bump: {report.bump}."
    parts = [headline(report), *(found if report.findings else []), *words, bump, user_code(report)]
    return " ".join(filter(None, parts))


def user_code(report: Report) -> str:
    """What came of user code, in a sentence; empty if none was checked."""
    checked = report.user_code
    if checked is None:
        return ""
    alarm = f", {len(checked.unpredicted)} that no finding predicts" if checked.unpredicted else ""
    return f"User code: {number(checked.failures, 'failure')} in {number(checked.files, 'file')}{alarm}."


def counts(findings: list[Finding]) -> dict[Verdict, int]:
    """How many findings have each verdict, the worst first."""
    return {verdict: sum(each.worst is verdict for each in findings) for verdict in WORST_FIRST}


def counted(findings: list[Finding]) -> str:
    """The counts in words, without those that are none."""
    return ", ".join(f"{count} {verdict.word}" for verdict, count in counts(findings).items() if count)


def number(count: int, what: str) -> str:
    return f"{count or 'no'} {what}{'' if count == 1 else 's'}"


def note(profile: str) -> str:
    """A profile as headings have it."""
    return profile if profile == STABLE else f"{profile} (reported only)"
