"""Sums up a report in sentences, for the report itself and for `make upgrade`."""

from __future__ import annotations

from codegen.data.renames import read_repository_url
from codegen.diff.report import Report
from codegen.diff.verdict.findings import Finding
from codegen.diff.verdict.verdicts import Verdict
from codegen.pinned.profiles import STABLE

RULES_PAGE = "codegen/diff/RULES.md"


def write_headline(report: Report) -> str:
    """Say who has to act on changes of the stable profile."""
    if not report.has_stable:
        return "The stable profile is not compared, because it can't be read."
    changes = {
        role: sum(any(role in roles for roles in finding.todo) for finding in report.unaccepted)
        for role in ("agents", "clients")
    }
    agents, clients = changes.values()
    if not agents and not clients:
        return f"Nobody has to act: {_explain_nobody(report)}."
    if agents == clients:
        return f"Agents and clients have to act on {count_noun(agents, 'breaking change')}."
    first, second = sorted(changes, key=lambda role: -changes[role])
    more = f", {second} on {changes[second]}" if changes[second] else ""
    return f"{first.capitalize()} have to act on {count_noun(changes[first], 'breaking change')}{more}."


def _explain_nobody(report: Report) -> str:
    """Say why nobody has to act, as part of a sentence."""
    if not report.findings:
        return "only descriptions changed" if any(report.docs_only.values()) else "nothing changed"
    if not report.stable:
        return f"nothing{' but descriptions' if report.docs_only.get(STABLE) else ''} changed in the stable profile"
    if report.unaccepted:
        risky = count_noun(len(report.unaccepted), "risky change")
        return f"the stable profile has no breaking change, but {risky} to look at"
    has_accepted = any(finding.worst is not Verdict.SAFE for finding in report.stable)
    return f"all changes in the stable profile are safe{' or accepted' if has_accepted else ''}"


def write_conclusion(report: Report) -> str:
    """Recommend a version bump, say why, and sum up the check of user code if there was one."""
    accepted = " (accepted ones count, too)" if report.worst is not Verdict.BREAKING else ""
    why = {
        "major": f"the stable profile has breaking changes{accepted}",
        "minor": "nothing stable breaks, but something changed",
        "patch": "only descriptions changed",
        "none": "nothing changed",
        "unknown": "the stable profile can't be read",
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


def rule_url(rule: str) -> str:
    """Return the address of the explanation of a rule."""
    return f"{read_repository_url()}/blob/main/{RULES_PAGE}#{rule}"


def count_verdicts(findings: list[Finding]) -> dict[Verdict, int]:
    """Count the findings by verdict, the worst first."""
    return {verdict: sum(finding.worst is verdict for finding in findings) for verdict in sorted(Verdict, reverse=True)}


def write_counts(findings: list[Finding]) -> str:
    """Write the counts in words, without zeros."""
    return ", ".join(f"{count} {verdict.word}" for verdict, count in count_verdicts(findings).items() if count)


def count_noun(count: int, noun: str) -> str:
    """Write a count with its noun: `no files`, `1 file`, `2 files`."""
    return f"{count or 'no'} {noun}{'' if count == 1 else 's'}"
