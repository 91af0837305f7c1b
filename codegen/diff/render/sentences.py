"""Counts the findings of a report and sums them up in sentences, for the report itself and for `make upgrade`."""

from __future__ import annotations

from collections import Counter

from codegen.diff.report import Report
from codegen.diff.verdict.findings import Finding
from codegen.diff.verdict.verdicts import Verdict


def write_headline(report: Report) -> str:
    """Return what a reviewer reads first: who has to act, in the stable profile."""
    actors = ({role for roles in finding.todo for role in roles.split(" and ")} for finding in report.unread)
    counted = Counter(role for roles in actors for role in roles)
    if not counted:
        return f"Nobody has to act: {_why_nobody(report)}."
    (first, count), *others = counted.most_common()
    breaking = count_noun(count, "breaking change")
    if others and others[0][1] == count:
        return f"Agents and clients have to act on {breaking}."
    more = f", {others[0][0]} on {others[0][1]}" if others else ""
    return f"{first.capitalize()} have to act on {breaking}{more}."


def _why_nobody(report: Report) -> str:
    if not report.findings:
        return "only descriptions changed" if any(report.docs_only.values()) else "nothing changed"
    if not report.stable:
        return "nothing in the stable profile changed"
    if report.unread:
        risky = count_noun(len(report.unread), "risky change")
        return f"the stable profile has {risky}, which may need a look, and no breaking one"
    has_accepted = any(finding.worst is not Verdict.SAFE for finding in report.stable)
    return f"all changes in the stable profile are safe{' or accepted' if has_accepted else ''}"


def write_conclusion(report: Report) -> str:
    """Return the recommended version bump, and why; and the result of checking user code if it was checked."""
    accepted = " (accepted ones count, too)" if report.worst is not Verdict.BREAKING else ""
    why = {
        "major": f"the stable profile has breaking changes{accepted}",
        "minor": "nothing stable breaks, but something is new",
        "patch": "only descriptions changed",
        "none": "nothing changed",
    }
    bump = f"Recommended version bump: {report.bump}, because {why[report.bump]}."
    checked = report.user_code
    if checked is None:
        return bump
    unpredicted = f", {len(checked.unpredicted)} that no finding predicts" if checked.unpredicted else ""
    line = f"User code: {count_noun(checked.failures, 'failure')} in {count_noun(checked.files, 'file')}{unpredicted}."
    unused = sum(finding.breaks_python and not finding.failures for finding in report.stable)
    why_unused = f"that {count_noun(unused, 'breaking finding')} would break, such as the lines after `breaks:`."
    return f"{bump} {line} These files have no code {why_unused}" if unused else f"{bump} {line}"


def count_verdicts(findings: list[Finding]) -> dict[Verdict, int]:
    """Count the findings with each verdict, the worst first."""
    return {verdict: sum(finding.worst is verdict for finding in findings) for verdict in sorted(Verdict, reverse=True)}


def write_counts(findings: list[Finding]) -> str:
    """Return the counts in words, without zeros."""
    return ", ".join(f"{count} {verdict.word}" for verdict, count in count_verdicts(findings).items() if count)


def count_noun(count: int, noun: str) -> str:
    """Return a count with its noun: `no files`, `1 file`, `2 files`."""
    return f"{count or 'no'} {noun}{'' if count == 1 else 's'}"
