"""Every row can be measured. The tests use a tiny scale, so the numbers mean nothing."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.implementations import FLOOR, NEXT, OURS, PEERS, Implementations, Sample, run
from benchmarks.measuring import Row, measure
from benchmarks.results import summarize
from benchmarks.rows import all_rows, large_lines
from benchmarks.setup import Setup
from benchmarks.table import text_lines
from tests.support.scale import STRESS
from tests.support.skipping import skip_without
from tools.third_party import NEXT_PYTHON_SDK, UnavailableError, python_sdk, typescript_sdk

pytestmark = [
    pytest.mark.test_all,
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="the programs need POSIX"),
]

TINY = 0.001
INSTALL = {"python-sdk": python_sdk, NEXT: lambda: python_sdk(NEXT_PYTHON_SDK), "typescript-sdk": typescript_sdk}
NAMES = [row.name for row in all_rows(Setup(Implementations(with_peers=False), TINY, Path()))]
# Rows that run the same programs as another one, with other numbers or messages: `make test` measures only the other.
ALIKE = {
    "cold-start": "first-prompt",
    "concurrent": "round-trip",
    "idle": "agents",
}


@pytest.fixture
def _one_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let rows that measure several sizes run their programs with one of them, except in `make stress`."""
    if STRESS:
        return
    samples: dict[tuple[object, ...], Sample] = {}

    def run_once(command: list[str], *arguments: Any) -> Sample:
        programs = tuple(each for each in (*command, *arguments) if str(each).endswith(".py"))
        if programs not in samples:
            samples[programs] = run(command, *arguments)
        return samples[programs]

    monkeypatch.setattr(large_lines, "run", run_once)


def _quiet(_: str) -> None:
    """Show no progress."""


def row_named(name: str, folder: Path, *, with_peers: bool) -> Row:
    setup = Setup(Implementations(with_peers=with_peers), TINY, folder)
    return next(row for row in all_rows(setup) if row.name == name)


@pytest.mark.stress
@pytest.mark.usefixtures("_one_size")
@pytest.mark.parametrize("name", [name for name in NAMES if STRESS or name not in ALIKE])
def test_each_row_is_measured_and_every_target_without_a_peer_gets_a_verdict(name: str, tmp_path: Path) -> None:
    # Without the run before the first round, because this test looks at no times.
    row = replace(row_named(name, tmp_path, with_peers=False), warm=False)
    result = summarize(row, measure(row, 1, _quiet))
    assert all(OURS in quantity["by"] for quantity in result["quantities"])
    for target, outcome in zip(row.targets, result["targets"], strict=True):
        assert (outcome["passed"] is None) == bool({target.over, target.under} & set(PEERS))


@pytest.mark.parametrize("name", NAMES)
def test_the_implementations_of_a_target_are_measured_or_listed_as_missing(name: str, tmp_path: Path) -> None:
    row = row_named(name, tmp_path, with_peers=False)
    for target in row.targets:
        for each in {target.over, target.under} - {None}:
            assert each in {*row.measures, *row.missing}
    assert set(row.measures) <= {OURS, FLOOR}


@pytest.mark.stress
@pytest.mark.parametrize("peer", PEERS)
@pytest.mark.parametrize("name", ["send", "concurrent", "agents", "websockets"] if STRESS else ["send"])
def test_a_peer_is_measured_with_programs_of_its_own(peer: str, name: str, tmp_path: Path) -> None:
    try:
        INSTALL[peer]()
    except UnavailableError as reason:
        skip_without(f"The {peer} can't be installed", reason)
    measured = row_named(name, tmp_path, with_peers=True).measures[peer]()
    assert measured["seconds"] > 0


def test_missing_peers_are_printed_with_the_reason(tmp_path: Path) -> None:
    row = row_named("stream", tmp_path, with_peers=False)
    printed = "\n".join(text_lines(summarize(row, {OURS: [{"seconds": 1.0}]})))
    assert printed.count("missing: measured without peers") == len(PEERS)
    assert printed.count("not measured") == len(row.targets)
