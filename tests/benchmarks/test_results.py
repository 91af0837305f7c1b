"""How samples become ratios and verdicts, and those the page that is committed."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from benchmarks.__main__ import main
from benchmarks.implementations import FLOOR, OURS, FailedError, run
from benchmarks.measuring import Bar, Quantity, Row, at_least, at_most, measure, no_more_than
from benchmarks.report import DOCS, render
from benchmarks.results import result_of
from benchmarks.table import lines_of

SAMPLES = {
    OURS: [{"seconds": 2.0}, {"seconds": 30.0}, {"seconds": 4.0}],
    FLOOR: [{"seconds": 1.0}, {"seconds": 10.0}, {"seconds": 2.0}],
}


def row_with(*bars: Bar, unit: Quantity | None = None) -> Row:
    return Row("a-row", "Something.", [unit or Quantity("seconds", "s")], {}, bars)


def test_a_ratio_is_the_median_of_the_ratios_of_rounds_and_not_the_ratio_of_medians() -> None:
    [bar] = result_of(row_with(at_most(2)), {**SAMPLES, FLOOR: [{"seconds": each} for each in (1.0, 30.0, 8.0)]})[
        "bars"
    ]
    assert bar["ratio"]["median"] == 1.0


@pytest.mark.parametrize(
    ("bar", "passed"),
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
def test_a_bar_is_passed_missed_or_not_measured(bar: Bar, passed: bool | None) -> None:
    [said] = result_of(row_with(bar), SAMPLES)["bars"]
    assert said["passed"] is passed


def test_a_rate_is_shown_for_a_quantity_with_a_count() -> None:
    [quantity] = result_of(row_with(unit=Quantity("seconds", "updates/s", count=100)), SAMPLES)["quantities"]
    assert quantity["by"][OURS] == {"median": 25.0, "low": pytest.approx(14.167), "high": 37.5}


def test_a_missed_bar_is_printed_as_missed() -> None:
    printed = "\n".join(lines_of(result_of(row_with(at_most(1.5)), SAMPLES)))
    assert "MISSED" in printed


def test_the_order_rotates_from_round_to_round() -> None:
    order: list[str] = []
    measures = {name: lambda name=name: order.append(name) or {} for name in "abc"}
    measure(Row("a-row", "Something.", [], measures), 3, lambda _: None)
    assert "".join(order) == "abcbcacab"


def test_a_program_that_fails_is_said_to_with_what_it_wrote(tmp_path: Path) -> None:
    script = tmp_path / "fails.py"
    script.write_text("raise SystemExit('no reason')")
    with pytest.raises(FailedError, match=r"exit code 1:\nno reason"):
        run([sys.executable, str(script)])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nonsense"], "There is no row nonsense. The rows are receive, "),
        (["--rounds", "0"], "0 is not more than 0"),
        (["--scale", "-1"], "-1 is not more than 0"),
    ],
)
def test_bad_input_exits_2_and_says_what_is_wrong(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        code: object = main(["--no-peers", *arguments])
    except SystemExit as exit:
        code = exit.code
    assert code == 2
    assert said in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="programs count as POSIX does")
def test_results_are_written_as_json(tmp_path: Path) -> None:
    path = tmp_path / "build" / "results.json"
    assert main(["--no-peers", "--rounds", "1", "--scale", "0.001", "--json", str(path), "import"]) == 0
    results = json.loads(path.read_text("utf-8"))
    assert [row["name"] for row in results["rows"]] == ["import"]
    assert set(results) == {"machine", "versions", "rounds", "scale", "rows"}


def test_the_committed_page_is_what_its_results_give() -> None:
    results = json.loads((DOCS / "performance.json").read_text("utf-8"))
    for name, text in render(results).items():
        assert (DOCS / name).read_text("utf-8") == text, "Run `python -m benchmarks.report docs/performance.json`."
