"""The report about a client, as text, JSON and JUnit's XML."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree

from acp_kit.checking.running import Result
from acp_kit.recording.file_format import format_entry

_SITE = "https://agentclientprotocol.com"
_SHOWN = 8
_WIDTH = 160
_LONGEST = 4000
_MARKS = {"passed": "ok", "failed": "FAIL", "skipped": "skip"}


def is_fault(result: Result) -> bool:
    """Return whether the client doesn't do what it must."""
    return result.status == "failed" and result.scenario.level == "MUST"


def text_of(result: Result) -> str:
    """Return what came of a scenario: one line, or if it failed, also the rule and what was sent last."""
    scenario = result.scenario
    head = f"{_MARKS[result.status]:4}  {scenario.level:6}  {scenario.id}"
    head += f": {result.reason}" if result.reason else ""
    if result.status != "failed":
        return head
    arrows = {"c2a": "->", "a2c": "<-", "stderr": "  "}
    lines = [scenario.rule, f"{_SITE}{scenario.page}"]
    lines += [f"{arrows[way]} {_short(line)}" for _, way, line in result.entries[-_SHOWN:]]
    if printed := result.output.strip().splitlines():
        lines += ["The client has printed:", *(f"  {line[:_WIDTH]}" for line in printed[-_SHOWN:])]
    return "\n      ".join([head, *lines])


def summary_of(results: Sequence[Result]) -> str:
    """Return the last line of the text: how many passed and failed."""
    counts = Counter(
        f"{result.scenario.level} failed" if result.status == "failed" else result.status for result in results
    )
    failed = ", ".join(f"{counts[name]} {name}" for name in ("MUST failed", "SHOULD failed"))
    return f"{counts['passed']} passed, {failed}, {counts['skipped']} could not be tried"


def json_of(command: Sequence[str], results: Sequence[Result]) -> str:
    """Return the report as JSON. The messages have the form of a recording."""
    report = {"command": [*command], "passed": not any(map(is_fault, results)), "scenarios": [*map(_members, results)]}
    return json.dumps(report, indent=2)


def junit_of(results: Sequence[Result]) -> str:
    """Return the report as JUnit's XML. What a client should do and doesn't is `skipped`, since it fails no build."""
    suite = ElementTree.Element("testsuite", name="check-client", tests=str(len(results)))
    for result in results:
        about = {"classname": f"check-client.{result.scenario.level}", "name": result.scenario.id}
        case = ElementTree.SubElement(suite, "testcase", about, time=f"{result.seconds:.3f}")
        if result.status != "passed":
            kind = "failure" if is_fault(result) else "skipped"
            text = re.sub("[^\t\n\x20-\ud7ff\ue000-\ufffd]", "?", text_of(result))  # what XML can't hold
            ElementTree.SubElement(case, kind, message=text.partition("\n")[0]).text = text
    for name, kind in (("failures", "failure"), ("skipped", "skipped")):
        suite.set(name, str(len(suite.findall(f"*/{kind}"))))
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True)


def _members(result: Result) -> dict[str, Any]:
    scenario = result.scenario
    return {
        **{name: getattr(scenario, name) for name in ("id", "level", "rule")},
        "page": f"{_SITE}{scenario.page}",
        **{name: getattr(result, name) for name in ("status", "reason", "seconds")},
        "exitCode": result.exit_code,
        "messages": [json.loads(format_entry(time, way, line[:_LONGEST])) for time, way, line in result.entries],
        "output": result.output[-_LONGEST:],
    }


def _short(line: bytes) -> str:
    text = line[: 2 * _WIDTH].decode(errors="replace").replace('"jsonrpc": "2.0", ', "").replace('"jsonrpc":"2.0",', "")
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 3]}... ({len(line)} bytes)"
