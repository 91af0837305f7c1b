"""Writes the report as GitHub's Markdown, for pull requests, workflow summaries and commit messages.

Safe findings, and those of unstable and draft profiles, are folded. The text must also be readable in `git log`: it has
no wide tables, and no line starts with `#`, because git removes such lines as comments.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import accumulate

from codegen.data.renames import FILE as RENAMES
from codegen.diff.render.sentences import (
    count_noun,
    count_verdicts,
    rule_url,
    write_conclusion,
    write_counts,
    write_headline,
)
from codegen.diff.report import Report, write_proposed_renames
from codegen.diff.sources import ACCEPTED
from codegen.diff.verdict.findings import BOTH, NOWHERE, TO_AGENT, TO_CLIENT, Failure, Finding
from codegen.diff.verdict.verdicts import AXES, Verdict
from codegen.escaping import inert_code, plain
from codegen.pinned.profiles import STABLE

# A comment on GitHub has at most 65,536 characters. Workflows, and a note about what is left out, need the rest.
LIMIT = 63_000
UNPREDICTED = "User code fails type checking, and no finding predicts it: this report is incomplete."
# At most this many failures of user code are listed together.
_FAILURES = 20
_SIGNS = {Verdict.BREAKING: "🔴", Verdict.RISKY: "🟡", Verdict.SAFE: "🟢"}
_BREAK = "  \n  "
_FLOWS = {TO_AGENT: "client -> agent", TO_CLIENT: "agent -> client", BOTH: "both ways", NOWHERE: "never sent"}
# An item names at most this many places of one change. The others are folded.
_SUBJECTS = 6
# Of longer lines of code, only the start and the end are shown.
_LONGEST, _START, _END = 160, 110, 40
# At most this many methods are named. More are only counted.
_METHODS = 2


def write_markdown(report: Report) -> str:
    """Write the report as GitHub's Markdown. Lines beyond `LIMIT` characters are left out."""
    blocks = [
        f"**{write_headline(report)}**",
        _underline(f"Schema: {plain(report.base)} → {plain(report.head)}"),
        "\n".join(f"> Note: {plain(note)}" for note in report.notes),
        write_conclusion(report),
        _write_unpredicted(report.unpredicted),
        _write_overview(report),
        _write_renames(report),
        *(
            _write_profile(name, findings, repeated)
            for name, (findings, repeated) in _drop_repeated(report).items()
            if findings or repeated
        ),
        _write_acceptances([finding for finding in report.unaccepted if finding.worst is Verdict.BREAKING]),
        _write_links(report),
    ]
    return _cut("\n\n".join(filter(None, blocks))) + "\n"


def _cut(text: str) -> str:
    """Return the lines that fit into `LIMIT`, and how many are left out."""
    lines = text.split("\n")
    fitting = sum(total <= LIMIT for total in accumulate(len(line) + 1 for line in lines))
    if fitting == len(lines):
        return text
    kept = "\n".join(lines[:fitting]).rstrip().split("\n")
    if kept.count("```toml") > kept.count("```"):
        kept.append("```")
    if sum(line.startswith("<details>") for line in kept) > kept.count("</details>"):
        kept += ["", "</details>"]
    more = f"> Left out for length: {count_noun(len(lines) - fitting, 'line')}."
    return "\n".join([*kept, "", f"{more} `make diff BASE=<the same base> FORMAT=json` has everything."])


def _write_overview(report: Report) -> str:
    """Write a table of counts, with a row for each profile that changed."""
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


def _write_renames(report: Report) -> str:
    entries = write_proposed_renames(report)
    return f"**To keep the old names working, add to {RENAMES}:**\n\n```toml\n{entries}\n```" if entries else ""


def _write_acceptances(findings: list[Finding]) -> str:
    """Write the entries that accept all breaking findings, with empty reasons."""
    entries = [
        f'[[accepted]]\nfingerprint = "{finding.fingerprint}" # {finding.rule}, {finding.place}\nreason = ""'
        for finding in findings
    ]
    title = f"To accept breaking changes, add to schema/{ACCEPTED}, each with a reason"
    block = "\n\n".join(entries)
    return f"<details><summary>{title}</summary>\n\n```toml\n{block}\n```\n\n</details>" if entries else ""


def _write_links(report: Report) -> str:
    """Write the addresses of the rules that items name."""
    rules = dict.fromkeys(finding.rule for finding in report.stable if finding.worst is not Verdict.SAFE)
    return "\n".join(f"[`{rule}`]: {rule_url(rule)}" for rule in sorted(rules))


def _drop_repeated(report: Report) -> dict[str, tuple[list[Finding], str]]:
    """Return the findings of each profile that no earlier profile has, and a sentence about the repeated ones."""
    first_profile: dict[object, str] = {}
    by_profile: dict[str, tuple[list[Finding], str]] = {}
    for profile, findings in report.by_profile.items():
        keys = [
            (finding.rule, *finding.subjects, finding.sentence, finding.change, finding.verdicts, finding.failures)
            for finding in findings
        ]
        profiles = [first_profile.setdefault(key, profile) for key in keys]
        new = [finding for finding, first in zip(findings, profiles, strict=True) if first == profile]
        repeated = Counter(first for first in profiles if first != profile)
        sentences = [f"Same as in {first}: {count_noun(count, 'finding')}." for first, count in repeated.items()]
        by_profile[profile] = new, " ".join(sentences)
    return by_profile


def _write_profile(name: str, findings: list[Finding], repeated: str) -> str:
    if name != STABLE:
        counted = f"{write_counts(findings)}." if findings else ""
        title = f"{name} (for information only): {' '.join(filter(None, [counted, repeated]))}"
        return _fold(title, findings) if findings else title
    safe = [finding for finding in findings if finding.worst is Verdict.SAFE]
    unsafe = _write_groups([finding for finding in findings if finding.worst is not Verdict.SAFE])
    folded = _fold(f"{len(safe)} safe", safe) if safe else ""
    return "\n\n".join(filter(None, [_underline(name), unsafe, folded]))


def _fold(title: str, findings: list[Finding]) -> str:
    return f"<details><summary>{title}</summary>\n\n{_write_groups(findings)}\n\n</details>"


def _write_groups(findings: list[Finding]) -> str:
    """Write the findings by severity, the worst first, and by the methods that they are about."""
    groups: dict[str, dict[object, list[Finding]]] = {}
    for finding in sorted(findings, key=lambda finding: -finding.severity):
        # Findings that differ only in their subjects are shown as one.
        key = (finding.sentence, finding.change, finding.verdicts, finding.flow, finding.accepted, finding.failures)
        groups.setdefault(f"{finding.severity.title}: {_name_methods(finding)}", {}).setdefault(key, []).append(finding)
    return "\n\n".join(
        f"**{plain(title)}**\n\n{chr(10).join(map(write_item, items.values()))}" for title, items in groups.items()
    )


def _name_methods(finding: Finding) -> str:
    """Return the methods that a finding is about, or how many there are."""
    if 0 < len(finding.methods) <= _METHODS:
        return ", ".join(finding.methods)
    if finding.methods:
        return f"{len(finding.methods)} methods"
    if finding.place == finding.profile:
        return "the whole profile"
    return "no method" if finding.flow == NOWHERE else "the message envelope"


def write_item(findings: list[Finding]) -> str:
    """Write findings that differ only in their subjects, as an item of a list."""
    finding = findings[0]
    subjects, others = _name_subjects(findings)
    failures = [f"fails: {failure}" for failure in _write_failures(finding.failures)]
    first = f"{_SIGNS[finding.worst]} {subjects}: {finding.sentence}"
    if finding.worst is Verdict.SAFE or finding.reports_only:
        lines = [f"{first} {inert_code(finding.change)}".rstrip(), others]
    else:
        fingerprints = ", ".join(f"`{item.fingerprint}`" for item in findings)
        last = f"{_FLOWS[finding.flow]}, [`{finding.rule}`], {fingerprints}"
        lines = [first, inert_code(finding.change), others, *_write_details(finding), last]
    return f"- {_BREAK.join([*filter(None, lines), *failures])}"


def _name_subjects(findings: list[Finding]) -> tuple[str, str]:
    """Write the names of what changed. If there are many, most of them are in a second, folded text."""
    names = [inert_code(subject) for finding in findings for subject in finding.subjects]
    if len(names) <= _SUBJECTS or len(findings) > 1:
        return ", ".join(names), ""
    shown, others = names[:_SUBJECTS], names[_SUBJECTS:]
    more = f"<details><summary>{len(others)} more</summary>{', '.join(others)}</details>"
    return f"{', '.join(shown)} and {len(others)} more", more


def _write_details(finding: Finding) -> Iterator[str]:
    """Yield what to do, the smallest messages and code that break, and the verdicts."""
    yield from (f"**{roles.capitalize()}**: {text}" for roles, text in finding.todo.items())
    for age, message in zip(("old", "new"), finding.refused, strict=True):
        if message:
            reader = f"{finding.readers[0]}s" if len(finding.readers) == 1 else "peers"
            yield f"{age} {reader} refuse: {inert_code(message)}"
    for line in finding.code:
        yield f"breaks: {inert_code(line if len(line) <= _LONGEST else f'{line[:_START]} … {line[-_END:]}')}"
    yield f"✅ accepted: {plain(finding.accepted)}" if finding.accepted else ""
    # The verdicts that aren't safe, the worst first. If an axis concerns a single role, the role is named.
    roles_of = {"build": finding.writers, "read": finding.readers}
    owners = {axis: f"{roles[0]}s' " for axis, roles in roles_of.items() if len(roles) == 1}
    verdicts = finding.verdicts._asdict()
    worst_first = sorted(
        (axis for axis in verdicts if verdicts[axis] is not Verdict.SAFE), key=lambda axis: -verdicts[axis]
    )
    yield "; ".join(f"{owners.get(axis, '')}{AXES[axis]}: {verdicts[axis].word}" for axis in worst_first)


def _write_unpredicted(failures: tuple[Failure, ...]) -> str:
    lines = [f"- {failure}" for failure in _write_failures(failures)]
    return "\n".join([_underline(f"{_SIGNS[Verdict.BREAKING]} {UNPREDICTED}"), "", *lines]) if lines else ""


def _write_failures(failures: tuple[Failure, ...]) -> list[str]:
    shown = [f"{inert_code(failure.sentence)}{_BREAK}{inert_code(failure.source)}" for failure in failures[:_FAILURES]]
    return [*shown, *([f"{len(failures) - _FAILURES} more lines"] if len(failures) > _FAILURES else [])]


def _underline(text: str) -> str:
    return f"{text}\n{'-' * max(len(text), 4)}"
