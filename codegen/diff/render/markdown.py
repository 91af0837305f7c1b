"""For a pull request, a workflow's summary and a commit's message: a list a method, what is safe folded away.

It is read raw in `git log`, so it has no wide tables; and no line starts with `#`, which git takes for a comment.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from codegen.diff.findings import Finding
from codegen.diff.grouping import (
    FLOWS,
    REPORTED_ONLY,
    WORST_FIRST,
    by_profile,
    change,
    counted,
    counts,
    groups,
    headline,
    note,
    unsafe_axes,
)
from codegen.diff.report import Report
from codegen.diff.verdicts import Verdict

# A comment on GitHub has room for 65,536 characters. The rest is for what a workflow writes around it.
LIMIT = 64_000
_ALL = " `make diff BASE=<the same base> FORMAT=html > report.html` has everything."
_SIGNS = {Verdict.BREAKING: "🔴", Verdict.RISKY: "🟡", Verdict.SAFE: "🟢"}
_BREAK = "  \n  "


def markdown(report: Report) -> str:
    """The report as GitHub's Markdown. What it is too long for is counted: what is safe and what is unstable first."""
    order = sorted(report.findings, key=lambda each: (each.worst is Verdict.SAFE, each.reports_only, -each.worst))
    fitting = bisect_right(range(len(order) + 1), LIMIT, key=lambda count: len(_text(report, set(order[:count]))))
    return _text(report, set(order[: fitting - 1]))


def _text(report: Report, kept: set[Finding]) -> str:
    """The report with the findings that are kept, and the number of the others."""
    blocks = [
        _underlined(f"Schema: {_plain(report.base)} → {_plain(report.head)}"),
        f"**{headline(report)} Recommended version bump: {report.bump}.**",
        _overview(report),
        _left_out(list(report.findings), kept, _ALL),
    ]
    for profile, findings in by_profile(report).items():
        blocks += [_underlined(note(profile)), *_profile(findings, kept)] if findings else []
    return "\n\n".join(filter(None, blocks)) + "\n"


def _overview(report: Report) -> str:
    """A table of counts: a row for each profile in which anything changed."""
    rows = [
        "| " + " | ".join([profile, *map(str, counts(found).values()), str(report.docs_only[profile])]) + " |"
        for profile, found in by_profile(report).items()
        if found or report.docs_only[profile]
    ]
    titles = [f"{_SIGNS[verdict]} {verdict.word}" for verdict in WORST_FIRST]
    head = f"| Profile | {' | '.join(titles)} | docs |\n|---|--:|--:|--:|--:|"
    drafts = f"\n\n{REPORTED_ONLY}" if any(each.reports_only for each in report.findings) else ""
    return "\n".join([head, *rows]) + drafts if rows else ""


def _profile(findings: list[Finding], kept: set[Finding]) -> list[str]:
    shown = [each for each in findings if each in kept]
    safe = [each for each in shown if each.worst is Verdict.SAFE]
    blocks = _groups([each for each in shown if each.worst is not Verdict.SAFE])
    if safe:
        blocks += [f"<details><summary>{len(safe)} safe</summary>", *_groups(safe), "</details>"]
    return [*blocks, _left_out(findings, kept)]


def _left_out(findings: list[Finding], kept: set[Finding], instead: str = "") -> str:
    missing = counted([each for each in findings if each not in kept])
    return f"> Left out for length: {missing}.{instead}" if missing else ""


def _groups(findings: list[Finding]) -> list[str]:
    return [f"**{_plain(title)}**\n\n" + "\n".join(map(_item, members)) for title, members in groups(findings).items()]


def _item(finding: Finding) -> str:
    if finding.worst is Verdict.SAFE:
        return f"- {_code(finding.subject)}: {finding.sentence} {_code(change(finding))}".rstrip()
    verdict = f"{_SIGNS[finding.worst]} **{finding.worst.word}**"
    axes = "; ".join(f"{title}: {verdict.word}" for title, verdict in unsafe_axes(finding).items())
    about = f"{FLOWS[finding.flow]}, `{finding.rule}`, `{finding.fingerprint}`"
    accepted = f"✅ accepted: {_plain(finding.accepted)}" if finding.accepted else ""
    lines = [f"{verdict} {_code(finding.subject)}: {finding.sentence}", _code(change(finding)), accepted, axes, about]
    return f"- {_BREAK.join(filter(None, lines))}"


def _underlined(text: str) -> str:
    return f"{text}\n{'-' * max(len(text), 4)}"


def _code(text: str) -> str:
    """Code on one line, in more backticks than it has itself."""
    if not text:
        return ""
    ticks = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
    space = " " if len(ticks) > 1 else ""
    return f"{ticks}{space}{' '.join(text.split())}{space}{ticks}"


def _plain(text: str) -> str:
    """Text on one line that opens no markup but what ends with it."""
    return " ".join(re.sub(r"([\\`*\[<&])", r"\\\1", text).split())
