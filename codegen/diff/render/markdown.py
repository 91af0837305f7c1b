"""For a pull request's comment and a workflow's summary: a table a profile, what is safe folded away."""

from __future__ import annotations

from codegen.diff.failures import UNPREDICTED, Failure
from codegen.diff.findings import Finding
from codegen.diff.grouping import by_profile, change, groups, note, summary, unsafe_axes
from codegen.diff.report import Report
from codegen.diff.verdicts import Verdict

# Characters in a comment on GitHub.
LIMIT = 65_536
_CUT = "\nThe rest is left out for length; the other formats have it.\n"
_SIGNS = {Verdict.BREAKING: "🔴 breaking", Verdict.RISKY: "🟡 risky", Verdict.SAFE: "🟢 safe"}
_HEAD = ["| | What | Change | For whom |", "|---|---|---|---|"]


def markdown(report: Report) -> str:
    """The report as GitHub's Markdown, without what is safe, and then cut, if it is too long for a comment."""
    text = _markdown(report, with_safe=True)
    if len(text) > LIMIT:
        text = _markdown(report, with_safe=False)
    if len(text) <= LIMIT:
        return text
    kept = text[: LIMIT - len(_CUT)].rsplit("\n", 1)[0]
    return f"{kept}\n{_CUT}"


def _markdown(report: Report, *, with_safe: bool) -> str:
    lines = [f"## Schema: {_cell(report.base)} → {_cell(report.head)}", "", f"**{summary(report)}**"]
    if report.unpredicted:
        rows = [f"| {_failure(each)} |" for each in report.unpredicted]
        lines += ["", f"### 🔴 {UNPREDICTED}", "", "| User code |", "|---|", *rows]
    for profile, findings in by_profile(report).items():
        docs = report.docs_only[profile]
        if findings or docs:
            lines += ["", f"### {note(profile, findings)}"]
            lines += _tables(findings, with_safe)
            lines += ["", f"{docs} descriptions changed."] if docs else []
    return "\n".join([*lines, ""])


def _tables(findings: list[Finding], with_safe: bool) -> list[str]:
    unsafe = [each for each in findings if each.worst is not Verdict.SAFE]
    safe = [each for each in findings if each.worst is Verdict.SAFE]
    lines = ["", *_table(unsafe)] if unsafe else []
    if safe and not with_safe:
        lines += ["", f"{len(safe)} safe changes, left out here for length."]
    elif safe:
        lines += ["", f"<details><summary>{len(safe)} safe changes</summary>", "", *_table(safe), "", "</details>"]
    return lines


def _table(findings: list[Finding]) -> list[str]:
    rows = [_row(title, each) for title, members in groups(findings).items() for each in members]
    return [*_HEAD, *rows]


def _row(title: str, finding: Finding) -> str:
    whom = "<br>".join(f"{axis}: {verdict.word}" for axis, verdict in unsafe_axes(finding).items())
    sign = f"✅ accepted: {_cell(finding.accepted)}" if finding.accepted else _SIGNS[finding.worst]
    what = f"{_code(finding.subject)}<br>{_cell(finding.sentence)}<br><sub>{_cell(title)} · {finding.flow}</sub>"
    how = f"{_code(change(finding))}<br><sub>{finding.rule} · {finding.fingerprint}</sub>"
    fails = "".join(f"<br>{_failure(each)}" for each in finding.failures)
    return f"| {sign} | {what} | {how} | {whom}{fails} |"


def _failure(failure: Failure) -> str:
    return f"{_cell(failure.sentence)}<br>{_code(failure.source)}"


def _code(text: str) -> str:
    """Code in a cell of a table. Backticks of its own and pipes would end it."""
    return f"`{text.replace('`', chr(39)).replace('|', chr(92) + '|')}`" if text else ""


def _cell(text: str) -> str:
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace("|", "\\|")
    return " ".join(escaped.split())
