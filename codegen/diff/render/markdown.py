"""The report as GitHub's Markdown, for pull requests, workflow summaries and commit messages. Safe findings are folded.

It must also be readable as plain text in `git log`: it has no wide tables, and no line starts with `#`, which git
removes as a comment.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import replace

from codegen.diff.proposed_renames import INVITATION, proposed_text
from codegen.diff.render.grouping import (
    FLOWS,
    REPORTED_ONLY,
    WORST_FIRST,
    by_profile,
    change_line,
    counts,
    counts_in_words,
    groups,
    headline,
    number,
    profile_title,
    unsafe_axes,
    user_code_line,
)
from codegen.diff.report import Report
from codegen.diff.verdict.failures import UNPREDICTED, Failure
from codegen.diff.verdict.findings import Finding
from codegen.diff.verdict.verdicts import Verdict
from codegen.read.renames_file import FILE

# A comment on GitHub has at most 65,536 characters. The rest is for text that a workflow adds.
LIMIT = 64_000
# Every part has more characters than this.
_SHORTEST = 20
# Longer entries of `renames.toml` are left out.
_ENTRIES = LIMIT // 4
# This many unpredicted failures have priority over the findings. The others are the first to be left out.
_UNPREDICTED_FIRST = 20
_SIGNS = {Verdict.BREAKING: "🔴", Verdict.RISKY: "🟡", Verdict.SAFE: "🟢"}
_BREAK = "  \n  "
# (finding, None): a finding; (finding, failure): one of its failures; (None, failure): an unpredicted failure.
_Part = tuple[Finding | None, Failure | None]


def markdown(report: Report) -> str:
    """Render the report as GitHub's Markdown, cut to `LIMIT`. The least important parts are only counted."""
    order = _order(report)[: LIMIT // _SHORTEST]
    fitting = bisect_right(
        range(len(order) + 1), LIMIT, key=lambda count: len(_text(report, _cut(report, order[:count])))
    )
    return _text(report, _cut(report, order[: max(fitting - 1, 0)]))


def _order(report: Report) -> list[_Part]:
    """Return the parts that may be left out, the most important first."""
    unpredicted: list[_Part] = [(None, each) for each in report.unpredicted]
    found = [(each, failure) for each in report.findings for failure in (None, *each.failures)]
    return [*unpredicted[:_UNPREDICTED_FIRST], *sorted(found, key=_rank), *unpredicted[_UNPREDICTED_FIRST:]]


def _rank(part: tuple[Finding, Failure | None]) -> tuple[bool, bool, bool, int]:
    finding, failure = part
    return finding.worst is Verdict.SAFE, finding.reports_only, failure is not None, -finding.worst


def _cut(report: Report, order: list[_Part]) -> Report:
    """Return the report with only these parts."""
    kept = {(id(finding), id(failure)) for finding, failure in order}  # hashing the parts themselves is slow
    findings = tuple(
        replace(each, failures=tuple(failure for failure in each.failures if (id(each), id(failure)) in kept))
        for each in report.findings
        if (id(each), id(None)) in kept
    )
    unpredicted = tuple(each for each in report.unpredicted if (id(None), id(each)) in kept)
    user_code = report.user_code and replace(report.user_code, unpredicted=unpredicted)
    return replace(report, findings=findings, user_code=user_code)


def _text(report: Report, cut: Report) -> str:
    """Render a cut report. `report` is the whole one, from which the omitted parts are counted."""
    blocks = [
        _underlined(f"Schema: {_plain(report.base)} → {_plain(report.head)}"),
        f"**{headline(report)} Recommended version bump: {report.bump}.**",
        "\n".join(f"> Note: {_plain(each)}" for each in report.notes),
        user_code_line(report),
        *_unpredicted(report, cut),
        _overview(report),
        *_renames(report),
        _left_out(report, cut, _full_report(report)),
    ]
    for profile in report.profiles:
        blocks += _profile(profile, _only(report, profile), _only(cut, profile))
    return "\n\n".join(filter(None, blocks)) + "\n"


def _full_report(report: Report) -> str:
    options = f"USER_CODE={report.user_code.folder} " if report.user_code else ""
    return f" For the full report run `make diff BASE=<the same base> {options}FORMAT=html > report.html`."


def _only(report: Report, profile: str) -> Report:
    return replace(report, findings=tuple(by_profile(report)[profile]), user_code=None)


def _unpredicted(report: Report, cut: Report) -> list[str]:
    if not report.unpredicted:
        return []
    lines = "\n".join(f"- {_failure(each)}" for each in cut.unpredicted)
    left_out = _left_out(replace(report, findings=()), replace(cut, findings=()))
    return [_underlined(f"{_SIGNS[Verdict.BREAKING]} {UNPREDICTED}"), lines, left_out]


def _overview(report: Report) -> str:
    """Return a table of counts, with a row for each profile that changed."""
    rows = [
        "| " + " | ".join([profile, *map(str, counts(found).values()), str(report.docs_only[profile])]) + " |"
        for profile, found in by_profile(report).items()
        if found or report.docs_only[profile]
    ]
    titles = [f"{_SIGNS[verdict]} {verdict.word}" for verdict in WORST_FIRST]
    head = f"| Profile | {' | '.join(titles)} | docs |\n|---|--:|--:|--:|--:|"
    information = f"\n\n{REPORTED_ONLY}" if any(each.reports_only for each in report.findings) else ""
    return "\n".join([head, *rows]) + information if rows else ""


def _renames(report: Report) -> list[str]:
    """Return the proposed entries, or only their number if they are too long."""
    entries = proposed_text(report)
    if len(entries) > _ENTRIES:
        return [f"> Left out for length: the entries to add to {FILE}.{_full_report(report)}"]
    return [f"**{INVITATION}**", f"```toml\n{entries}\n```"] if entries else []


def _profile(name: str, report: Report, cut: Report) -> list[str]:
    safe = [each for each in cut.findings if each.worst is Verdict.SAFE]
    blocks = _groups([each for each in cut.findings if each.worst is not Verdict.SAFE])
    if safe:
        blocks += [f"<details><summary>{len(safe)} safe</summary>", *_groups(safe), "</details>"]
    return [_underlined(profile_title(name)), *blocks, _left_out(report, cut)] if report.findings else []


def _left_out(report: Report, cut: Report, more: str = "") -> str:
    shown = set(cut.findings)
    lines = len(_failures(report) - _failures(cut))
    missing = [
        counts_in_words([each for each in report.findings if each not in shown]),
        f"{number(lines, 'line')} of user code" if lines else "",
    ]
    return f"> Left out for length: {', '.join(filter(None, missing))}.{more}" if any(missing) else ""


def _failures(report: Report) -> set[Failure]:
    return {*report.unpredicted, *(failure for each in report.findings for failure in each.failures)}


def _groups(findings: list[Finding]) -> list[str]:
    return [f"**{_plain(title)}**\n\n" + "\n".join(map(_item, members)) for title, members in groups(findings).items()]


def _item(finding: Finding) -> str:
    if finding.worst is Verdict.SAFE:
        return f"- {_code(finding.subject)}: {finding.sentence} {_code(change_line(finding))}".rstrip()
    verdict = f"{_SIGNS[finding.worst]} **{finding.worst.word}**"
    axes = "; ".join(f"{title}: {verdict.word}" for title, verdict in unsafe_axes(finding).items())
    about = f"{FLOWS[finding.flow]}, `{finding.rule}`, `{finding.fingerprint}`"
    accepted = f"✅ accepted: {_plain(finding.accepted)}" if finding.accepted else ""
    lines = [
        f"{verdict} {_code(finding.subject)}: {finding.sentence}",
        _code(change_line(finding)),
        accepted,
        axes,
        about,
    ]
    return f"- {_BREAK.join([*filter(None, lines), *map(_failure, finding.failures)])}"


def _failure(failure: Failure) -> str:
    return f"fails: {_code(failure.sentence)}{_BREAK}{_code(failure.source)}"


def _underlined(text: str) -> str:
    return f"{text}\n{'-' * max(len(text), 4)}"


def _code(text: str) -> str:
    """Return code on one line, delimited by more backticks than it contains in a row."""
    if not text:
        return ""
    ticks = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
    space = " " if len(ticks) > 1 else ""
    return f"{ticks}{space}{' '.join(text.split())}{space}{ticks}"


def _plain(text: str) -> str:
    """Return text on one line, escaped so that it isn't read as markup."""
    return " ".join(re.sub(r"([\\`*\[<&])", r"\\\1", text).split())
