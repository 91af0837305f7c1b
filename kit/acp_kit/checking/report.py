"""The report about a client, as text, JSON and JUnit's XML."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree

from acp_kit.checking.running import Result
from acp_kit.recording import format_entry

_SITE = "https://agentclientprotocol.com"
_SHOWN = 8
_WIDTH = 160
_LONGEST = 4000
_MARKS = {"passed": "ok", "failed": "FAIL", "skipped": "skip"}


def is_met(results: Sequence[Result]) -> bool:
    """Return whether nothing failed that a client must do."""
    return not any(result.status == "failed" and result.scenario.level == "MUST" for result in results)


def text_of(result: Result) -> str:
    """Return what came of a scenario: one line, or if it failed, also the rule and what was sent last."""
    scenario = result.scenario
    head = f"{_MARKS[result.status]:4}  {scenario.level:6}  {scenario.id}"
    if result.status == "passed":
        return head
    head = f"{head}: {result.reason}"
    if result.status == "skipped":
        return head
    arrows = {"c2a": "->", "a2c": "<-", "stderr": "  "}
    lines = [scenario.rule, f"{_SITE}{scenario.page}"]
    lines += [f"{arrows[way]} {_short(line)}" for _, way, line in result.entries[-_SHOWN:]]
    if printed := result.output.strip().splitlines():
        lines += ["The client has printed:", *(f"  {line[:_WIDTH]}" for line in printed[-_SHOWN:])]
    return "\n      ".join([head, *lines])


def summary_of(results: Sequence[Result]) -> str:
    """Return the last line of the text: how many passed and failed."""
    counts = Counter((result.status, result.scenario.level) for result in results)
    passed, skipped = (sum(counts[status, level] for level in ("MUST", "SHOULD")) for status in ("passed", "skipped"))
    failed = ", ".join(f"{counts['failed', level]} {level} failed" for level in ("MUST", "SHOULD"))
    return f"{passed} passed, {failed}, {skipped} could not be tried"


def json_of(command: Sequence[str], results: Sequence[Result]) -> str:
    """Return the report as JSON. The messages have the form of a recording."""
    report = {"command": [*command], "passed": is_met(results), "scenarios": [_as_object(result) for result in results]}
    return json.dumps(report, indent=2)


def junit_of(results: Sequence[Result]) -> str:
    """Return the report as JUnit's XML. What a client should do and doesn't is `skipped`, since it fails no build."""
    failures = [result for result in results if result.status == "failed" and result.scenario.level == "MUST"]
    skipped = [result for result in results if result.status != "passed" and result not in failures]
    counts = {"tests": str(len(results)), "failures": str(len(failures)), "skipped": str(len(skipped))}
    suite = ElementTree.Element("testsuite", {"name": "check-client", **counts})
    for result in results:
        about = {"classname": f"check-client.{result.scenario.level}", "name": result.scenario.id}
        case = ElementTree.SubElement(suite, "testcase", about, time=f"{result.seconds:.3f}")
        if result.status != "passed":
            kind = "failure" if result in failures else "skipped"
            ElementTree.SubElement(case, kind, message=_printable(result.reason)).text = _printable(text_of(result))
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True)


def _as_object(result: Result) -> dict[str, Any]:
    scenario = result.scenario
    return {
        "id": scenario.id,
        "level": scenario.level,
        "rule": scenario.rule,
        "page": f"{_SITE}{scenario.page}",
        "status": result.status,
        "reason": result.reason,
        "seconds": round(result.seconds, 3),
        "exitCode": result.exit_code,
        "messages": [json.loads(format_entry(time, way, line[:_LONGEST])) for time, way, line in result.entries],
        "output": result.output[-_LONGEST:],
    }


def _short(line: bytes) -> str:
    text = line[: 2 * _WIDTH].decode(errors="replace").replace('"jsonrpc": "2.0", ', "").replace('"jsonrpc":"2.0",', "")
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 3]}... ({len(line)} bytes)"


def _printable(text: str) -> str:
    """Replace what XML can't hold."""
    return re.sub("[^\t\n\x20-\ud7ff\ue000-\ufffd]", "?", text)
