"""The report as annotations of GitHub Actions, on the lines of the head's schema and of the generated classes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from codegen.diff.render.sentences import write_headline
from codegen.diff.report import Report
from codegen.diff.sources import SCHEMA, Side
from codegen.diff.verdict.findings import Finding
from codegen.diff.verdict.verdicts import Verdict

_LEVELS = {Verdict.BREAKING: "error", Verdict.RISKY: "warning"}
# GitHub shows ten errors and ten warnings of a step, so a finding is annotated in its worst places alone.
_PLACES = 3
# A class or an alias, and what is defined in it.
_PYTHON = (r"^(class {0}\b.*:|{0}: TypeAlias)", r"^    (async def )?{0}\b")


def github(report: Report, head: Side, repository: Path) -> str:
    """Render the findings of the stable profile that aren't safe or accepted, the worst first."""
    lines = [line for finding in report.unread for line in _annotations(finding, head, repository)]
    return "\n".join([*lines, write_headline(report)]) + "\n"


def _annotations(finding: Finding, head: Side, repository: Path) -> Iterator[str]:
    todo = (f"{roles.capitalize()}: {text}" for roles, text in finding.todo.items())
    text = "\n".join(filter(None, [finding.sentence, finding.change, *todo, *finding.refused, *finding.code]))
    for place in finding.places[:_PLACES]:
        title = f"{place.subject} ({finding.rule}, {finding.fingerprint})"
        for file, line in _lines(place, head, repository):
            options = {"file": file, "line": str(line), "title": title}
            written = ",".join(f"{key}={_escaped(value, ':,')}" for key, value in options.items())
            yield f"::{_LEVELS[finding.worst]} {written}::{_escaped(text)}"


def _lines(finding: Finding, head: Side, repository: Path) -> Iterator[tuple[str, int]]:
    """Yield the files and lines of the schema, and of the first Python name that is still there."""
    if finding.new:
        keys = [key for key in finding.new.split("/")[1:] if not key.isdigit()]
        path = repository / SCHEMA / head.profiles[finding.profile].file
        yield from _find([f'"{re.escape(key)}":' for key in keys], [path], repository)
    for symbol in finding.symbols:
        package, profile, *names = symbol.split(".")
        patterns = [pattern.format(name) for pattern, name in zip(_PYTHON, names, strict=False)]
        places = [*_find(patterns, sorted((repository / "generated" / package / profile).rglob("*.py")), repository)]
        if places:
            yield places[0]
            return


def _find(patterns: list[str], paths: list[Path], repository: Path) -> Iterator[tuple[str, int]]:
    """Yield each file that has the first pattern, and the line of the last one that stands behind those before it."""
    for path in paths:
        text, place = path.read_text("utf-8") if path.is_file() else "", 0
        for pattern in patterns:
            if match := re.compile(pattern, re.MULTILINE).search(text, place):
                place = match.start()
            else:
                break
        if place:
            yield path.relative_to(repository).as_posix(), text.count("\n", 0, place) + 1


def _escaped(text: str, others: str = "") -> str:
    return "".join(f"%{ord(character):02X}" if character in f"%\r\n{others}" else character for character in text)
