"""The report as annotations of GitHub Actions, on the lines of the head's schema and of the generated classes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from codegen.diff.render.grouping import change_line, headline
from codegen.diff.report import Report
from codegen.diff.sources import SCHEMA, Side
from codegen.diff.verdict.advice import advice
from codegen.diff.verdict.findings import Finding
from codegen.diff.verdict.verdicts import Verdict

_LEVELS = {Verdict.BREAKING: "error", Verdict.RISKY: "warning"}
# GitHub shows ten errors and ten warnings of a step, so a finding is annotated in its worst places alone.
_PLACES = 3


def github(report: Report, head: Side, repository: Path) -> str:
    """Render the findings of the stable profile that aren't safe or accepted, the worst first."""
    findings = [each for each in report.unaccepted if each.worst is not Verdict.SAFE]
    worst_first = sorted(findings, key=lambda each: -each.severity)
    lines = [line for each in worst_first for line in _annotations(each, head, repository)]
    return "\n".join([*lines, headline(report)]) + "\n"


def _annotations(finding: Finding, head: Side, repository: Path) -> Iterator[str]:
    todo = (f"{roles.capitalize()}: {text}" for roles, text in advice(finding).items())
    text = "\n".join(filter(None, [finding.sentence, change_line(finding), *todo, *finding.refused, *finding.code]))
    for place in finding.places[:_PLACES]:
        schema = f"{SCHEMA}/{head.profiles[finding.profile].file}"
        title = f"{place.subject} ({finding.rule}, {finding.fingerprint})"
        for file, line in [(schema, _line_of(repository / schema, place.new)), _class_of(place, repository)]:
            if line:
                options = {"file": file, "line": str(line), "title": title}
                written = ",".join(f"{key}={_escaped(value, ':,')}" for key, value in options.items())
                yield f"::{_LEVELS[finding.worst]} {written}::{_escaped(text)}"


def _line_of(path: Path, pointer: str) -> int:
    """Return the line of the last key of a JSON pointer that has a line of its own; 0 if there is nothing there."""
    if not pointer or not path.is_file():
        return 0
    text, place = path.read_text("utf-8"), 0
    for key in pointer.split("/")[1:]:
        place = max(place, text.find(f'"{key}":', place))
    return text.count("\n", 0, place) + 1


def _class_of(finding: Finding, repository: Path) -> tuple[str, int]:
    """Return the file and the line of the first Python name that is still there; the line is 0 if there is none."""
    for symbol in finding.symbols:
        package, profile, name, *attribute = symbol.split(".")
        for path in sorted((repository / "generated" / package / profile).rglob("*.py")):
            text = path.read_text("utf-8")
            if found := re.search(rf"^(class {name}\b.*:|{name}: TypeAlias)", text, re.MULTILINE):
                inside = re.compile(rf"^    (async def )?{''.join(attribute)}\b", re.MULTILINE)
                exact = inside.search(text, found.start()) if attribute else None
                start = (exact or found).start()
                return path.relative_to(repository).as_posix(), text.count("\n", 0, start) + 1
    return "", 0


def _escaped(text: str, others: str = "") -> str:
    return "".join(f"%{ord(each):02X}" if each in f"%\r\n{others}" else each for each in text)
