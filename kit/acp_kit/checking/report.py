"""The report about a client or an agent, as text, JSON and JUnit's XML."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree

from acp_kit.checking.running import Result
from acp_kit.recording.file_format import format_entry
from acp_runtime.escaping import printable

_MAX_LINES = 8
_MAX_WIDTH = 160
_MAX_CHARACTERS = 4000
_MARKS = {"passed": "ok", "failed": "FAIL", "skipped": "skip"}


def violates_must(result: Result) -> bool:
    """Whether the program violates a MUST."""
    return result.status == "failed" and result.scenario.level == "MUST"


def format_text(result: Result) -> str:
    """Return the result of a scenario as text: one line, and if it failed, the rule and the last lines.

    Control characters of the program are escaped.
    """
    scenario = result.scenario
    head = f"{_MARKS[result.status]:4}  {scenario.level:6}  {scenario.id}"
    head += f": {result.reason}" if result.reason else ""
    if result.status != "failed":
        return printable(head, sys.maxsize)
    arrows = {"c2a": "->", "a2c": "<-", "stderr": "  "}
    lines = [scenario.rule, scenario.url(result.version)]
    lines += [f"{arrows[entry.direction]} {_shorten(entry.data)}" for entry in result.entries[-_MAX_LINES:]]
    if printed := result.output.strip().splitlines():
        lines += ["The output of the program:", *(f"  {line[:_MAX_WIDTH]}" for line in printed[-_MAX_LINES:])]
    return "\n      ".join(printable(line, sys.maxsize) for line in [head, *lines])


def format_summary(results: Sequence[Result]) -> str:
    """Return the last line of the text: the numbers of passed and failed scenarios."""
    counts = Counter(
        f"{result.scenario.level} failed" if result.status == "failed" else result.status for result in results
    )
    failed = ", ".join(f"{counts[name]} {name}" for name in ("MUST failed", "SHOULD failed"))
    return f"{counts['passed']} passed, {failed}, {counts['skipped']} skipped"


def format_json(command: Sequence[str], results: Sequence[Result]) -> str:
    """Return the report as JSON. Its messages are the lines of a recording."""
    report = {
        "command": [*command],
        "passed": not any(map(violates_must, results)),
        "scenarios": [*map(_describe, results)],
    }
    return json.dumps(report, indent=2)


def format_junit(name: str, results: Sequence[Result]) -> str:
    """Return the report as JUnit's XML. A failed SHOULD is `skipped`, so that it doesn't fail a build."""
    suite = ElementTree.Element("testsuite", name=name, tests=str(len(results)))
    for result in results:
        case = ElementTree.SubElement(
            suite,
            "testcase",
            classname=f"{name}.{result.scenario.level}",
            name=result.scenario.id,
            time=f"{result.seconds:.3f}",
        )
        if result.status != "passed":
            kind = "failure" if violates_must(result) else "skipped"
            text = format_text(result)
            ElementTree.SubElement(case, kind, message=text.partition("\n")[0]).text = text
    for attribute, kind in (("failures", "failure"), ("skipped", "skipped")):
        suite.set(attribute, str(len(suite.findall(f"*/{kind}"))))
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True)


def _describe(result: Result) -> dict[str, Any]:
    scenario = result.scenario
    return {
        "id": scenario.id,
        "level": scenario.level,
        "rule": scenario.rule,
        "page": scenario.url(result.version),
        "status": result.status,
        "reason": result.reason,
        "seconds": result.seconds,
        "exitCode": result.exit_code,
        "messages": [
            json.loads(format_entry(entry.time, entry.direction, entry.data[:_MAX_CHARACTERS]))
            for entry in result.entries
        ],
        "output": result.output[-_MAX_CHARACTERS:],
    }


def _shorten(line: bytes) -> str:
    text = (
        line[: 2 * _MAX_WIDTH]
        .decode(errors="replace")
        .replace('"jsonrpc": "2.0", ', "")
        .replace('"jsonrpc":"2.0",', "")
    )
    return text if len(text) <= _MAX_WIDTH else f"{text[: _MAX_WIDTH - 3]}... ({len(line)} bytes)"
