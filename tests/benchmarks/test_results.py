"""Samples become ratios and verdicts, and results become the committed page."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from benchmarks.__main__ import main
from benchmarks.implementations import FLOOR, OURS, FailedError, Sample, run
from benchmarks.measuring import Quantity, Row, Target, at_least, at_most, measure, no_more_than
from benchmarks.report import DOCS, render
from benchmarks.results import result_of
from benchmarks.table import text_lines

SAMPLES = {
    OURS: [{"seconds": 2.0}, {"seconds": 30.0}, {"seconds": 4.0}],
    FLOOR: [{"seconds": 1.0}, {"seconds": 10.0}, {"seconds": 2.0}],
}


def row_with(*targets: Target, unit: Quantity | None = None) -> Row:
    return Row("a-row", "Something.", [unit or Quantity("seconds", "s")], {}, targets)


def test_a_ratio_is_the_median_of_the_rounds_ratios_not_the_ratio_of_medians() -> None:
    [target] = result_of(row_with(at_most(2)), {**SAMPLES, FLOOR: [{"seconds": each} for each in (1.0, 30.0, 8.0)]})[
        "targets"
    ]
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
    [result] = result_of(row_with(target), SAMPLES)["targets"]
    assert result["passed"] is passed


def test_a_quantity_with_a_count_is_shown_as_a_rate() -> None:
    [quantity] = result_of(row_with(unit=Quantity("seconds", "updates/s", count=100)), SAMPLES)["quantities"]
    assert quantity["by"][OURS] == {"median": 25.0, "low": pytest.approx(14.167), "high": 37.5}


def test_a_missed_target_is_printed_as_missed() -> None:
    printed = "\n".join(text_lines(result_of(row_with(at_most(1.5)), SAMPLES)))
    assert "MISSED" in printed


def test_the_order_rotates_from_round_to_round() -> None:
    order: list[str] = []
    measures = {name: lambda name=name: order.append(name) or {} for name in "abc"}
    measure(Row("a-row", "Something.", [], measures), 3, lambda _: None)
    assert "".join(order) == "abcbcacab"


def test_a_row_that_needs_cached_files_is_run_once_before_it_is_measured() -> None:
    ran: list[str] = []

    def once() -> Sample:
        ran.append("run")
        return {"seconds": float(len(ran))}

    samples = measure(Row("a-row", "Something.", [], {OURS: once}, warm=True), 2, lambda _: None)
    assert samples == {OURS: [{"seconds": 2.0}, {"seconds": 3.0}]}


def test_the_error_for_a_failed_program_has_its_output(tmp_path: Path) -> None:
    script = tmp_path / "fails.py"
    script.write_text("raise SystemExit('no reason')")
    with pytest.raises(FailedError, match=r"exit code 1:\nno reason"):
        run([sys.executable, str(script)])


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["nonsense"], "There is no row called nonsense. The rows are receive, "),
        (["--rounds", "0"], "0 is not greater than 0"),
        (["--scale", "-1"], "-1 is not greater than 0"),
    ],
)
def test_wrong_arguments_exit_with_2_and_an_error(
    arguments: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        code: object = main(["--no-peers", *arguments])
    except SystemExit as exit:
        code = exit.code
    assert code == 2
    assert expected in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="the programs need POSIX")
def test_results_are_written_as_json(tmp_path: Path) -> None:
    path = tmp_path / "build" / "results.json"
    assert main(["--no-peers", "--rounds", "1", "--scale", "0.001", "--json", str(path), "state"]) == 0
    results = json.loads(path.read_text("utf-8"))
    assert [row["name"] for row in results["rows"]] == ["state"]
    assert set(results) == {"machine", "versions", "rounds", "scale", "rows"}


def test_the_committed_page_is_rendered_from_the_committed_results() -> None:
    results = json.loads((DOCS / "performance.json").read_text("utf-8"))
    for name, text in render(results).items():
        assert (DOCS / name).read_text("utf-8") == text, (
            "Run `python -m benchmarks.report docs/project/performance.json`."
        )
