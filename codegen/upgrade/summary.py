"""The summary of an upgrade: what was done, and what is left to read and to do."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from codegen.diff.method_facts import METHODS
from codegen.diff.proposed_renames import proposed_text
from codegen.diff.render.grouping import change_line, number, summary
from codegen.diff.report import Report
from codegen.diff.sources import ACCEPTED
from codegen.diff.verdict.failures import Failure
from codegen.diff.verdict.findings import Finding
from codegen.diff.verdict.verdicts import Verdict
from codegen.errors import FileError
from codegen.read.renames_file import FILE as RENAMES, RENAMES_TOML, check_not_due, read_renames

_WIDTH = 120
_INDENT = " " * 3


@dataclass(frozen=True)
class Upgrade:
    """What an upgrade did.

    Attributes:
        old: the source that was pinned before.
        new: the source that is pinned now.
        lines: a line for each file or folder that was replaced.
        version: the versions of this package before and after.
        report: the changes; None if the schemas are the same.
        capabilities: new capabilities that no method requires, a line for each.
    """

    old: str
    new: str
    lines: list[str]
    version: tuple[str, str]
    report: Report | None
    capabilities: list[str]


def nothing_to_do(source: str) -> str:
    return f"The schemas of {source} are the pinned ones. There is nothing to do.\n"


def summarise(upgrade: Upgrade) -> str:
    """Return the text that the command prints."""
    report = upgrade.report
    if report is None:
        title = f"The schemas of {upgrade.new} are those of {upgrade.old}. Only the name of the release changed."
        return _text([title, "", *upgrade.lines, "", "Nothing was committed."])
    left = [line for number, item in enumerate(_left(upgrade, report), 1) for line in _numbered(number, item)]
    options = f" USER_CODE={report.user_code.folder}" if report.user_code else ""
    end = f"Nothing was committed. `make diff BASE=HEAD{options}` prints the whole report."
    found = [f"{upgrade.old} -> {upgrade.new}", "", *upgrade.lines, "", *_wrapped(summary(report)), _version(upgrade)]
    return _text([*found, "", "Left to do:", *left, "", end])


def _version(upgrade: Upgrade) -> str:
    before, after = upgrade.version
    if before == after:
        return f"The next version of this package is still {after}."
    return f"The next version of this package is {after} instead of {before}."


def _left(upgrade: Upgrade, report: Report) -> Iterator[list[str]]:
    """Yield what is left to do: a sentence, and the lines that it is about."""
    if report.unpredicted:
        lines = [line for each in report.unpredicted for line in _failure(each)]
        yield ["Find out why this code fails, although no finding predicts it:", *lines]
    unread = [
        each
        for each in report.findings
        if each.worst is not Verdict.SAFE and not each.reports_only and not each.accepted
    ]
    if unread:
        lines = [line for each in sorted(unread, key=lambda each: -each.worst) for line in _finding(each)]
        yield [f"Read {number(len(unread), 'finding')}. Prepare users, or accept it in schema/{ACCEPTED}:", *lines]
    if report.stale:
        yield [f"Remove the entries of schema/{ACCEPTED} that match no finding: {', '.join(report.stale)}."]
    version = upgrade.version[1]
    if entries := proposed_text(report):
        yield [
            f"Add to {RENAMES} the old names that code may use for now, and run this command again:",
            *entries.split("\n"),
        ]
    if overdue := _overdue(version):
        yield [f"{overdue} Then run `make regen`."]
    if upgrade.capabilities:
        what = "Find out whether a method, or a part of its params, requires a new capability"
        yield [f"{what}. If so, say it in {METHODS} and run this command again:", *upgrade.capabilities]
    yield ["Edit the new lines of CHANGELOG.md where they don't say enough."]
    yield ["Run `make compatibility`, which rewrites docs/project/compatibility.md."]
    yield ["Review `git diff`, run `make test lint`, and commit everything together."]


def _overdue(version: str) -> str:
    """Return why a version of this package can't have an old name of renames.toml; empty if it can have all."""
    try:
        check_not_due(read_renames(RENAMES_TOML), version)
    except FileError as error:
        return str(error)
    return ""


def _finding(finding: Finding) -> list[str]:
    text = f"{finding.worst.word:<8} {finding.subject}: {finding.sentence}"
    details = [change_line(finding), f"#{finding.fingerprint}"]
    failures = [f"  {line}" for each in finding.failures for line in _failure(each)]
    return [text, *(f"         {each}" for each in details if each), *failures]


def _failure(failure: Failure) -> list[str]:
    return [failure.sentence, f"    {failure.source}"]


def _numbered(number: int, lines: list[str]) -> list[str]:
    first, *others = lines
    return [f"{number}. {first}", *(f"{_INDENT}{each}".rstrip() for each in others)]


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, break_long_words=False, break_on_hyphens=False)


def _text(lines: list[str]) -> str:
    return "\n".join(lines) + "\n"
