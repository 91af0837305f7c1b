"""Every row runs to its end, at a scale where nothing that it measures means anything."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks.implementations import FLOOR, OURS, PEERS, Implementations
from benchmarks.measuring import Row, measure
from benchmarks.results import result_of
from benchmarks.rows import all_rows
from benchmarks.setup import Setup
from benchmarks.table import lines_of
from tests.support.third_party import UnavailableError, python_sdk, skip_without, typescript_sdk

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="programs count as POSIX does"),
]

TINY = 0.001
INSTALL = {"python-sdk": python_sdk, "typescript-sdk": typescript_sdk}
NAMES = [row.name for row in all_rows(Setup(Implementations(with_peers=False), TINY, Path()))]


def _quiet(_: str) -> None:
    """Nobody follows the progress."""


def row_named(name: str, folder: Path, *, with_peers: bool) -> Row:
    setup = Setup(Implementations(with_peers=with_peers), TINY, folder)
    return next(row for row in all_rows(setup) if row.name == name)


@pytest.mark.parametrize("name", NAMES)
def test_each_row_is_measured_and_every_bar_that_needs_no_peer_gets_a_verdict(name: str, tmp_path: Path) -> None:
    row = row_named(name, tmp_path, with_peers=False)
    result = result_of(row, measure(row, 1, _quiet))
    assert all(OURS in quantity["by"] for quantity in result["quantities"])
    for bar, said in zip(row.bars, result["bars"], strict=True):
        assert (said["passed"] is None) == bool({bar.over, bar.under} & set(PEERS))


@pytest.mark.parametrize("name", NAMES)
def test_whoever_a_bar_needs_is_measured_or_said_to_be_missing(name: str, tmp_path: Path) -> None:
    row = row_named(name, tmp_path, with_peers=False)
    for bar in row.bars:
        for each in {bar.over, bar.under} - {None}:
            assert each in {*row.measures, *row.missing}
    assert set(row.measures) <= {OURS, FLOOR}


@pytest.mark.parametrize("peer", PEERS)
@pytest.mark.parametrize("name", ["send", "concurrent", "agents"])
def test_peers_are_measured_by_the_same_programs(peer: str, name: str, tmp_path: Path) -> None:
    try:
        INSTALL[peer]()
    except UnavailableError as reason:
        skip_without(f"The {peer} can't be installed", reason)
    measured = row_named(name, tmp_path, with_peers=True).measures[peer]()
    assert measured["seconds"] > 0


def test_a_peer_that_is_missing_is_said_to_be(tmp_path: Path) -> None:
    row = row_named("stream", tmp_path, with_peers=False)
    printed = "\n".join(lines_of(result_of(row, {OURS: [{"seconds": 1.0}]})))
    assert printed.count("missing: peers were not asked for") == len(PEERS)
    assert printed.count("not measured") == len(row.bars)
