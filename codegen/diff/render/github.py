"""The report as GitHub workflow commands: annotations on the schema's files and on lines of user code."""

from __future__ import annotations

from codegen.diff.proposed_renames import INVITATION, proposed_text
from codegen.diff.render.grouping import change_line, summary, unsafe_axes
from codegen.diff.report import Report
from codegen.diff.verdict.failures import UNPREDICTED, Failure
from codegen.diff.verdict.findings import Finding
from codegen.diff.verdict.verdicts import Verdict
from codegen.pinned.profiles import file_of

_LEVELS = {Verdict.BREAKING: "error", Verdict.RISKY: "warning"}


def github(report: Report) -> str:
    """Render the report as annotations, one per line.

    The order is: failures that no finding predicts, findings that aren't safe, failures that a finding predicts, notes,
    proposed entries of `renames.toml`, and the summary. Unpredicted failures come first because GitHub shows only ten
    errors of a step.

    A finding is a notice if it is accepted or not in the stable profile, and otherwise an error (breaking) or a warning
    (risky). A failure is a warning if a finding predicts it, and otherwise an error.
    """
    unsafe = [each for each in report.findings if each.worst is not Verdict.SAFE]
    failures = [_failure("warning", _title(each), failure) for each in unsafe for failure in each.failures]
    unpredicted = [_failure("error", UNPREDICTED, failure) for failure in report.unpredicted]
    entries = proposed_text(report)
    renames = [f"{INVITATION}\n{entries}"] if entries else []
    notes = [f"::notice::{_data(each)}" for each in (*report.notes, *renames, summary(report))]
    lines = [*unpredicted, *map(_annotation, unsafe), *failures, *notes]
    return "".join(f"{line}\n" for line in lines)


def _annotation(finding: Finding) -> str:
    level = "notice" if finding.reports_only or finding.accepted else _LEVELS[finding.worst]
    axes = "; ".join(f"{title}: {verdict.word}" for title, verdict in unsafe_axes(finding).items())
    text = "\n".join(part for part in (finding.sentence, change_line(finding), axes, finding.pointer) if part)
    return f"::{level} file={_property(file_of(finding.profile))},title={_property(_title(finding))}::{_data(text)}"


def _failure(level: str, title: str, failure: Failure) -> str:
    place = f"file={_property(failure.file)},line={failure.line}"
    return f"::{level} {place},title={_property(title)}::{_data(failure.message)}"


def _title(finding: Finding) -> str:
    return f"{finding.rule}: {finding.subject}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
