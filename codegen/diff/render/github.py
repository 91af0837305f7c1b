"""Writes the report as annotations of GitHub Actions, on lines of the head's schema and of generated classes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from codegen.diff.render.sentences import rule_url, write_headline
from codegen.diff.report import Report
from codegen.diff.sources import Side
from codegen.diff.verdict.findings import Finding
from codegen.diff.verdict.verdicts import Verdict
from codegen.files import GENERATED_FOLDER, SCHEMA_FOLDER

_LEVELS = {Verdict.BREAKING: "error", Verdict.RISKY: "warning"}
# GitHub shows ten errors and ten warnings of a step, so only the worst places of a finding are annotated.
_PLACES = 3
# Patterns of a class or an alias, and of a definition inside it.
_PYTHON = (r"^(class {0}\b.*:|{0}: TypeAlias)", r"^    (async def )?{0}\b")


def write_github(report: Report, head: Side, repository: Path) -> str:
    """Write the findings of the stable profile that are neither safe nor accepted, the worst first."""
    lines = [line for finding in report.unaccepted for line in _write_annotations(finding, head, repository)]
    return "\n".join([*lines, write_headline(report)]) + "\n"


def _write_annotations(finding: Finding, head: Side, repository: Path) -> Iterator[str]:
    todo = (f"{roles.capitalize()}: {text}" for roles, text in finding.todo.items())
    text = "\n".join(
        filter(None, [finding.sentence, finding.change, *todo, *finding.refused, *finding.code, rule_url(finding.rule)])
    )
    for place in finding.places[:_PLACES]:
        title = f"{place.subject} ({finding.rule}, {finding.fingerprint})"
        for file, line in _find_lines(place, head, repository):
            options = {"file": file, "line": str(line), "title": title}
            properties = ",".join(f"{key}={_escape(value, ':,')}" for key, value in options.items())
            yield f"::{_LEVELS[finding.worst]} {properties}::{_escape(text)}"


def _find_lines(finding: Finding, head: Side, repository: Path) -> Iterator[tuple[str, int]]:
    """Yield the file and line of the schema, and of the first affected Python name that still exists."""
    if finding.new_pointer:
        keys = [key for key in finding.new_pointer.split("/")[1:] if not key.isdigit()]
        path = repository / SCHEMA_FOLDER / head.profiles[finding.profile].file
        yield from _find([f'"{re.escape(key)}":' for key in keys], [path], repository)
    for symbol in finding.symbols:
        package, profile, *names = symbol.split(".")
        patterns = [pattern.format(name) for pattern, name in zip(_PYTHON, names, strict=False)]
        places = [
            *_find(patterns, sorted((repository / GENERATED_FOLDER / package / profile).rglob("*.py")), repository)
        ]
        if places:
            yield places[0]
            return


def _find(patterns: list[str], paths: list[Path], repository: Path) -> Iterator[tuple[str, int]]:
    """Yield the files with the first pattern. The line is that of the last pattern that follows the ones before it."""
    for path in paths:
        text, place = path.read_text("utf-8") if path.is_file() else "", 0
        for pattern in patterns:
            if match := re.compile(pattern, re.MULTILINE).search(text, place):
                place = match.start()
            else:
                break
        if place:
            yield path.relative_to(repository).as_posix(), text.count("\n", 0, place) + 1


def _escape(text: str, others: str = "") -> str:
    return "".join(f"%{ord(character):02X}" if character in f"%\r\n{others}" else character for character in text)
