"""Samples become ratios and verdicts."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks.implementations import FLOOR, OURS, FailedError, run
from benchmarks.measuring import Quantity, Row, Target, at_least, at_most, no_more_than
from benchmarks.report import render
from benchmarks.results import summarize

SAMPLES = {
    OURS: [{"seconds": 2.0}, {"seconds": 30.0}, {"seconds": 4.0}],
    FLOOR: [{"seconds": 1.0}, {"seconds": 10.0}, {"seconds": 2.0}],
}


def row_with(*targets: Target, unit: Quantity | None = None) -> Row:
    return Row("a-row", "Something.", [unit or Quantity("seconds", "s")], {}, targets)


def test_a_ratio_is_the_median_of_the_rounds_ratios_not_the_ratio_of_medians() -> None:
    [target] = summarize(
        row_with(at_most(2)), {**SAMPLES, FLOOR: [{"seconds": seconds} for seconds in (1.0, 30.0, 8.0)]}
    )["targets"]
    assert target["ratio"]["median"] == 1.0


@pytest.mark.parametrize(
    ("target", "passed"),
    [
        (at_most(2), True),
        (at_most(1.9), False),
        (at_least(0.5, better_than=FLOOR), True),
        (at_least(0.6, better_than=FLOOR), False),
        (no_more_than(4, key="seconds"), True),
        (no_more_than(3.9, key="seconds"), False),
        (at_least(1, better_than="python-sdk"), None),
    ],
)
def test_a_target_is_passed_missed_or_not_measured(target: Target, passed: bool | None) -> None:
    [result] = summarize(row_with(target), SAMPLES)["targets"]
    assert result["passed"] is passed


def test_a_quantity_with_a_count_is_shown_as_a_rate() -> None:
    [quantity] = summarize(row_with(unit=Quantity("seconds", "updates/s", count=100)), SAMPLES)["quantities"]
    assert quantity["by"][OURS] == {"median": 25.0, "low": pytest.approx(14.167), "high": 37.5}


def test_the_error_for_a_failed_program_has_its_output(tmp_path: Path) -> None:
    script = tmp_path / "fails.py"
    script.write_text("raise SystemExit('no reason')")
    with pytest.raises(FailedError, match=r"exit code 1:\nno reason"):
        run([sys.executable, str(script)])


def test_the_page_has_the_medians_and_the_verdict_of_each_target() -> None:
    machine = {"processor": "a processor", "cores": 2, "system": "Linux"}
    row = summarize(row_with(at_most(1.9)), SAMPLES)
    page = render({"machine": machine, "versions": {"Python": "3.11"}, "rounds": 3, "scale": 1.0, "rows": [row]})
    assert "| a-row | s | 4 | 2 |  |  |  |" in page
    assert "| a-row | ours / floor | ≤ 1.9 | 2.00 | MISSED |" in page
    assert "- **a-row**: Something." in page
