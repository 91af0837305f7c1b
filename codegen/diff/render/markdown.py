"""The report as GitHub's Markdown, for pull requests, workflow summaries and commit messages.

Safe findings, and those in unstable and draft profiles, are folded. It must also be readable as plain text in
`git log`: it has no wide tables, and no line starts with `#`, which git removes as a comment.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import accumulate

from codegen.data.renames import FILE as RENAMES
from codegen.diff.render.sentences import count_noun, count_verdicts, write_conclusion, write_counts, write_headline
from codegen.diff.report import STABLE, Report, write_proposed_renames
from codegen.diff.sources import ACCEPTED
from codegen.diff.verdict.findings import BOTH, NOWHERE, TO_AGENT, TO_CLIENT, Failure, Finding
from codegen.diff.verdict.verdicts import AXES, Verdict
from codegen.escaping import inert_code, plain

# A comment on GitHub has at most 65,536 characters. The rest is for notes about what is left out, and for workflows.
LIMIT = 63_000
UNPREDICTED = "User code fails type checking, and no finding predicts it: this report is incomplete."
# At most this many failures of user code are listed in one place.
_FAILURES = 20
_SIGNS = {Verdict.BREAKING: "🔴", Verdict.RISKY: "🟡", Verdict.SAFE: "🟢"}
_BREAK = "  \n  "
_FLOWS = {TO_AGENT: "client -> agent", TO_CLIENT: "agent -> client", BOTH: "both ways", NOWHERE: "never sent"}
# An item names at most this many places of one change. The others are folded.
_SUBJECTS = 6
# A longer line of code is cut: its start and its end are shown.
_LONGEST, _START, _END = 160, 110, 40
# If a definition is used by more methods, they are only counted.
_FEW = 2


def markdown(report: Report) -> str:
    """Render the report as GitHub's Markdown. What goes beyond `LIMIT` is left out."""
    blocks = [
        f"**{write_headline(report)}**",
        _underlined(f"Schema: {plain(report.base)} → {plain(report.head)}"),
        "\n".join(f"> Note: {plain(note)}" for note in report.notes),
        write_conclusion(report),
        _unpredicted(report.unpredicted),
        _overview(report),
        _renames(report),
        *(
            _profile(name, *profile_findings)
            for name, profile_findings in _without_repeated(report).items()
            if any(profile_findings)
        ),
        _acceptances([finding for finding in report.unread if finding.worst is Verdict.BREAKING]),
    ]
    return _cut("\n\n".join(filter(None, blocks))) + "\n"


def _cut(text: str) -> str:
    """Return as many lines as fit into `LIMIT`, and how many are left out."""
    lines = text.split("\n")
    fitting = sum(total <= LIMIT for total in accumulate(len(line) + 1 for line in lines))
    if fitting == len(lines):
        return text
    kept = "\n".join(lines[:fitting]).rstrip().split("\n")
    kept += ["```"] if kept.count("```toml") > kept.count("```") else []
    kept += ["", "</details>"] if sum(line.startswith("<details>") for line in kept) > kept.count("</details>") else []
    more = f"> Left out for length: {count_noun(len(lines) - fitting, 'line')}."
    return "\n".join([*kept, "", f"{more} `make diff BASE=<the same base> FORMAT=json` has everything."])


def _overview(report: Report) -> str:
    """Return a table of counts, with a row for each profile that changed."""
    rows = [
        "| "
        + " | ".join([profile, *map(str, count_verdicts(findings).values()), str(report.docs_only[profile])])
        + " |"
        for profile, findings in report.by_profile.items()
        if findings or report.docs_only[profile]
    ]
    titles = [f"{_SIGNS[verdict]} {verdict.word}" for verdict in count_verdicts([])]
    head = f"| Profile | {' | '.join(titles)} | docs |\n|---|--:|--:|--:|--:|"
    return "\n".join([head, *rows]) if rows else ""


def _renames(report: Report) -> str:
    entries = write_proposed_renames(report)
    return f"**To keep the old names working, add to {RENAMES}:**\n\n```toml\n{entries}\n```" if entries else ""


def _acceptances(findings: list[Finding]) -> str:
    """Return the entries that would accept all breaking findings, but for their reasons."""
    entries = [
        f'[[accepted]]\nfingerprint = "{finding.fingerprint}" # {finding.rule}, {finding.place}\nreason = ""'
        for finding in findings
    ]
    title = f"To accept breaking changes, add to schema/{ACCEPTED}, each with a reason"
    block = "\n\n".join(entries)
    return f"<details><summary>{title}</summary>\n\n```toml\n{block}\n```\n\n</details>" if entries else ""


def _without_repeated(report: Report) -> dict[str, tuple[list[Finding], str]]:
    """Return the findings of each profile that no profile before it has, and a sentence about the others."""
    first: dict[object, str] = {}
    by_profile: dict[str, tuple[list[Finding], str]] = {}
    for profile, findings in report.by_profile.items():
        keys = [
            (finding.rule, *finding.subjects, finding.sentence, finding.change, finding.verdicts, finding.failures)
            for finding in findings
        ]
        where = [first.setdefault(key, profile) for key in keys]
        own = [finding for finding, name in zip(findings, where, strict=True) if name == profile]
        same = Counter(name for name in where if name != profile)
        by_profile[profile] = own, " ".join(f"Same as in {name}: {count_noun(same[name], 'finding')}." for name in same)
    return by_profile


def _profile(name: str, findings: list[Finding], same: str) -> str:
    if name != STABLE:
        counted = f"{write_counts(findings)}." if findings else ""
        title = f"{name} (for information only): {' '.join(filter(None, [counted, same]))}"
        return _folded(title, findings) if findings else title
    safe = [finding for finding in findings if finding.worst is Verdict.SAFE]
    unsafe = _groups([finding for finding in findings if finding.worst is not Verdict.SAFE])
    folded = _folded(f"{len(safe)} safe", safe) if safe else ""
    return "\n\n".join(filter(None, [_underlined(name), unsafe, folded]))


def _folded(title: str, findings: list[Finding]) -> str:
    return f"<details><summary>{title}</summary>\n\n{_groups(findings)}\n\n</details>"


def _groups(findings: list[Finding]) -> str:
    """Return the findings by severity, the worst first, and by what they are about."""
    groups: dict[str, dict[object, list[Finding]]] = {}
    for finding in sorted(findings, key=lambda finding: -finding.severity):
        # Findings that differ only in their subjects are shown as one.
        key = (finding.sentence, finding.change, finding.verdicts, finding.flow, finding.accepted, finding.failures)
        groups.setdefault(f"{finding.severity.title}: {_about(finding)}", {}).setdefault(key, []).append(finding)
    return "\n\n".join(
        f"**{plain(title)}**\n\n{chr(10).join(map(_item, items.values()))}" for title, items in groups.items()
    )


def _about(finding: Finding) -> str:
    """Return what a finding is about: a few methods, or how many there are."""
    if 0 < len(finding.methods) <= _FEW:
        return ", ".join(finding.methods)
    if finding.methods:
        return f"{len(finding.methods)} methods"
    if finding.place == finding.profile:
        return "the whole profile"
    return "no method" if finding.flow == NOWHERE else "the message envelope"


def _item(item: list[Finding]) -> str:
    finding = item[0]
    subjects, others = _subjects(item)
    failures = [f"fails: {failure}" for failure in _failures(finding.failures)]
    first = f"{_SIGNS[finding.worst]} {subjects}: {finding.sentence}"
    if finding.worst is Verdict.SAFE or finding.reports_only:
        lines = [f"{first} {inert_code(finding.change)}".rstrip(), others]
    else:
        lines = [first, inert_code(finding.change), others, *_details(finding)]
        lines += [
            f"{_FLOWS[finding.flow]}, `{finding.rule}`, {', '.join(f'`{finding.fingerprint}`' for finding in item)}"
        ]
    return f"- {_BREAK.join([*filter(None, lines), *failures])}"


def _subjects(item: list[Finding]) -> tuple[str, str]:
    """Return the first names of what changed in the same way, and the others folded, if there are many."""
    names = [inert_code(subject) for finding in item for subject in finding.subjects]
    if len(names) <= _SUBJECTS or len(item) > 1:
        return ", ".join(names), ""
    shown, others = names[:_SUBJECTS], names[_SUBJECTS:]
    more = f"<details><summary>{len(others)} more</summary>{', '.join(others)}</details>"
    return f"{', '.join(shown)} and {len(others)} more", more


def _details(finding: Finding) -> Iterator[str]:
    """Yield what to do, the smallest messages and the smallest code that break, and the verdicts."""
    yield from (f"**{roles.capitalize()}**: {text}" for roles, text in finding.todo.items())
    for age, message in zip(("old", "new"), finding.refused, strict=True):
        if message:
            reader = f"{finding.readers[0]}s" if len(finding.readers) == 1 else "peers"
            yield f"{age} {reader} refuse: {inert_code(message)}"
    for line in finding.code:
        yield f"breaks: {inert_code(line if len(line) <= _LONGEST else f'{line[:_START]} … {line[-_END:]}')}"
    yield f"✅ accepted: {plain(finding.accepted)}" if finding.accepted else ""
    # The verdicts that aren't safe, the worst first, each with the role that it concerns unless it is both.
    roles = {"build": finding.writers, "read": finding.readers}
    owners = {axis: f"{owners_of_axis[0]}s' " for axis, owners_of_axis in roles.items() if len(owners_of_axis) == 1}
    worst_first = sorted(finding.verdicts._asdict().items(), key=lambda axis: -axis[1])
    unsafe = [item for item in worst_first if item[1] is not Verdict.SAFE]
    yield "; ".join(f"{owners.get(axis, '')}{AXES[axis]}: {verdict.word}" for axis, verdict in unsafe)


def _unpredicted(failures: tuple[Failure, ...]) -> str:
    lines = [f"- {failure}" for failure in _failures(failures)]
    return "\n".join([_underlined(f"{_SIGNS[Verdict.BREAKING]} {UNPREDICTED}"), "", *lines]) if lines else ""


def _failures(failures: tuple[Failure, ...]) -> list[str]:
    shown = [f"{inert_code(failure.sentence)}{_BREAK}{inert_code(failure.source)}" for failure in failures[:_FAILURES]]
    return [*shown, *([f"{len(failures) - _FAILURES} more lines"] if len(failures) > _FAILURES else [])]


def _underlined(text: str) -> str:
    return f"{text}\n{'-' * max(len(text), 4)}"
