"""What the tests of a project show, and the page with the results of all."""

from __future__ import annotations

import datetime
import platform
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tools.paths import ROOT

PAGE = ROOT / "docs" / "project" / "official-projects.md"
PROJECTS: dict[str, dict[str, Any]] = tomllib.loads(Path(__file__).with_name("projects.toml").read_text("utf-8"))

_HEAD = """# Projects for the official SDK

<!-- Written by `make crater`. Change benchmarks/crater/ instead. -->

`make crater` runs the tests of these projects, unchanged, on the official connections and on
[acp_kit.official](../moving.md), and writes this page. `python -m benchmarks.crater NAME` runs one. Each is a release
on the package index whose tests open connections; of some, only a part of the tests is run.

Connections are counted in the second run, without those of other processes. *Official ones* are over HTTP and
WebSockets, or `acp.connection.Connection`.

"""
_COLUMNS = (
    "project",
    "official SDK",
    "tests",
    "pass on official",
    "pass on ours",
    "our connections",
    "official ones",
    "seconds for both runs",
)
HEADING = f"| {' | '.join(_COLUMNS)} |\n|{'---|' * len(_COLUMNS)}"


class Result(NamedTuple):
    """Both runs of a project's tests.

    Attributes:
        name: the project.
        sdk: the release of the official SDK that it uses.
        before: whether each test passes on the official connections.
        after: whether each test passes on ours.
        ours: how many of our connections the tests opened.
        official: how many official connections they opened besides.
        seconds: how long both runs took.
    """

    name: str
    sdk: str
    before: Mapping[str, bool]
    after: Mapping[str, bool]
    ours: int
    official: int
    seconds: float

    @property
    def lost(self) -> set[str]:
        """The tests that pass only on the official connections."""
        return {test for test, passes in self.before.items() if passes and not self.after.get(test)}


def problems(result: Result, expected: Iterable[str]) -> Iterator[str]:
    """Say what is wrong: no connection of ours, a test that is lost and not listed, or listed and not lost."""
    if not result.ours:
        yield "Its tests open no connection of ours, so they show nothing: remove the project."
    expected = {*expected}
    for test in sorted(result.lost - expected):
        yield f"passes only on the official connection: {test}"
    for test in sorted(expected - result.lost):
        yield f"isn't lost: take it out of projects.toml: {test}"


def row(result: Result) -> str:
    """Return a row of the table."""
    cells = (
        f"{result.name} {PROJECTS[result.name]['version']}",
        result.sdk,
        len(result.before),
        sum(result.before.values()),
        sum(result.after.values()),
        result.ours,
        result.official,
        round(result.seconds),
    )
    return f"| {' | '.join(map(str, cells))} |"


def render_page(results: Iterable[Result]) -> str:
    """Return the page with the results of all projects."""
    version, today = platform.python_version(), datetime.datetime.now(datetime.UTC).date()
    lines = [
        f"Measured with Python {version} on {today:%d %B %Y}.",
        "",
        HEADING,
        *map(row, results),
        "",
        "## Tests that pass only on the official connection",
        "",
        "| project | test | why |",
        "|---|---|---|",
    ]
    for name, project in PROJECTS.items():
        lines += [f"| {name} | `{test}` | {reason} |" for test, reason in project.get("lost", {}).items()]
    return _HEAD + "\n".join(lines) + "\n"
