"""Writes the summary of an upgrade: what was done, and what is left to read and to do."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from codegen.data.renames import FILE as RENAMES
from codegen.diff.render.sentences import count_noun, write_conclusion, write_headline
from codegen.diff.report import Report, write_proposed_renames
from codegen.diff.sources import ACCEPTED
from codegen.diff.verdict.findings import Failure, Finding
from codegen.escaping import join_first, wrap
from codegen.files import SCHEMA_FOLDER
from codegen.upgrade.schemas import Schemas

_WIDTH = 120
_INDENT = " " * 3
_PRINT_SENTENCES = f".venv/bin/python -m tools.specification.changes .@HEAD:{SCHEMA_FOLDER} {SCHEMA_FOLDER}"


@dataclass(frozen=True)
class Changes:
    """What other schemas change.

    Attributes:
        report: the findings.
        version: the next version of this package.
        texts: the files that the upgrade edits, by their names.
        tasks: what is left to do in codegen's data files and the runtime, with the lines that each task is about.
    """

    report: Report
    version: str
    texts: dict[str, str]
    tasks: dict[str, list[str]]


def say_nothing_to_do(schemas: Schemas) -> str:
    return _join_lines(
        [*schemas.notes, f"The schemas of {schemas.source} are the pinned ones. There is nothing to do."]
    )


def summarise(schemas: Schemas, changes: Changes | None, lines: list[str]) -> str:
    """Return the text that the command prints.

    Args:
        schemas: the schemas before and after.
        changes: what changes; None if the schemas are the same.
        lines: a line for each file or folder that changes.
    """
    old, new = schemas.old_source, schemas.source
    if changes is None:
        title = f"The schemas of {new} are those of {old}. Only the name of the release changed."
        return _join_lines([*schemas.notes, title, "", *lines, "", "Nothing was committed."])
    report = changes.report
    left: list[str] = []
    for number, (sentence, *about) in enumerate(_list_tasks(changes, schemas.unreadable), 1):
        left.append(wrap(sentence, _WIDTH, f"{number}. ", _INDENT))
        left += (textwrap.indent(text, _INDENT) for text in about)
    options = f" USER_CODE={report.user_code.folder}" if report.user_code else ""
    end = f"Nothing was committed. `make diff BASE=HEAD{options}` prints the whole report."
    notes = [line for sentence in schemas.notes for line in (wrap(sentence, _WIDTH), "")]
    is_raised = changes.version != schemas.version
    reason = f" instead of {schemas.version}" if is_raised else ", as before, because that is high enough"
    result = wrap(f"{write_headline(report)} {write_conclusion(report)}", _WIDTH)
    version = f"The next version of this package is {changes.version}{reason}."
    return _join_lines([*notes, f"{old} -> {new}", "", *lines, "", result, version, "", "Left to do:", *left, "", end])


def _list_tasks(changes: Changes, unreadable: Collection[str]) -> Iterator[list[str]]:
    """Yield what is left to do: a sentence, and the lines that it is about."""
    report = changes.report
    if unreadable:
        yield [f"Correct what the first lines report about {', '.join(unreadable)}, and run this command again."]
    if report.unpredicted:
        lines = [line for failure in report.unpredicted for line in _write_failure(failure)]
        yield ["Find out why this code fails. No finding predicts it:", *lines]
    if report.unaccepted:
        lines = list(_write_findings(report.unaccepted))
        count = count_noun(len(report.unaccepted), "finding")
        yield [f"Read {count}. Prepare users, or accept each in schema/{ACCEPTED}:", *lines]
    if report.stale:
        yield [f"Remove the entries of schema/{ACCEPTED} that match no finding: {', '.join(report.stale)}."]
    if entries := write_proposed_renames(report):
        yield [f"Add the old names that should keep working to {RENAMES}, and run this command again:", entries]
    yield from ([f"{sentence}:", *lines] for sentence, lines in changes.tasks.items() if lines)
    if report.bump != "none":
        yield ["Complete the new lines of CHANGELOG.md."]
        yield ["Enter the new sentences with MUST, SHOULD or MAY as statements. This prints them:", _PRINT_SENTENCES]
    yield ["Review `git diff`, run `make test lint`, and commit everything together."]


def _write_findings(findings: list[Finding]) -> Iterator[str]:
    """Yield the lines about findings. A failure that several of them predict is shown once."""
    shown: set[Failure] = set()
    for finding in findings:
        yield f"{finding.worst.word:<8} {join_first(finding.subjects, 1)}: {finding.sentence}"
        yield from (f"         {detail}" for detail in (finding.change, f"#{finding.fingerprint}") if detail)
        for failure in finding.failures:
            if failure not in shown:
                yield from (f"  {line}" for line in _write_failure(failure))
        shown.update(finding.failures)


def _write_failure(failure: Failure) -> list[str]:
    return [failure.sentence, f"    {failure.source}"]


def _join_lines(lines: list[str]) -> str:
    return "\n".join(lines) + "\n"
