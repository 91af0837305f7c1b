"""For a person at a terminal: grouped by method, the worst first."""

from __future__ import annotations

from codegen.diff.failures import UNPREDICTED, Failure
from codegen.diff.findings import Finding
from codegen.diff.grouping import by_profile, change, groups, note, summary, unsafe_axes
from codegen.diff.report import Report
from codegen.diff.verdicts import Verdict

_COLOURS = {Verdict.BREAKING: "31", Verdict.RISKY: "33", Verdict.SAFE: "32"}
_BOLD, _FAINT = "1", "2"


def terminal(report: Report, *, colour: bool) -> str:
    """The report as lines of text. `colour`: with ANSI colours."""
    lines = [f"{report.base} -> {report.head}"]
    for profile, findings in by_profile(report).items():
        words = f"{report.docs_only[profile]} descriptions changed" if report.docs_only[profile] else ""
        if not findings and not words:
            continue
        lines += ["", _painted(note(profile, findings), _BOLD, colour)]
        for title, members in groups(findings).items():
            lines.append(f"  {_painted(title, _BOLD, colour)}")
            lines += [line for each in members for line in _finding(each, colour)]
        lines += [f"  {words}"] if words else []
    if report.unpredicted:
        lines += ["", _painted(UNPREDICTED, _COLOURS[Verdict.BREAKING], colour)]
        lines += [line for each in report.unpredicted for line in _failure(each, "  ")]
    return "\n".join([*lines, "", summary(report), ""])


def _finding(finding: Finding, colour: bool) -> list[str]:
    verdict = _painted(f"{finding.worst.word:<8}", _COLOURS[finding.worst], colour)
    axes = "; ".join(f"{title}: {each.word}" for title, each in unsafe_axes(finding).items())
    about = f"{finding.rule}  {finding.flow}  #{finding.fingerprint}"
    lines = [f"    {verdict} {finding.subject}: {finding.sentence}", f"             {change(finding)}"]
    lines += [f"             {axes}"] if axes else []
    lines += [f"             accepted: {finding.accepted}"] if finding.accepted else []
    lines += [line for each in finding.failures for line in _failure(each, "             ")]
    return [line for line in lines if line.strip()] + [f"             {_painted(about, _FAINT, colour)}"]


def _failure(failure: Failure, indent: str) -> list[str]:
    return [f"{indent}{failure.sentence}", f"{indent}    {failure.source}"]


def _painted(text: str, code: str, colour: bool) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if colour else text
