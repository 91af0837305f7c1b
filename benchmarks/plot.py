"""The layout of the plot: the cost of each implementation relative to ours, on a logarithmic scale."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import Any

from benchmarks.implementations import FLOOR, OURS, PEERS
from benchmarks.table import number

WIDTH, LEFT, RIGHT, TOP, ROW = 440, 20, 14, 92, 44  # readable on a phone, too
OTHERS = (FLOOR, *PEERS)


@dataclass(frozen=True)
class Mark:
    """The mark of one implementation in a row."""

    name: str
    x: float
    title: str


@dataclass(frozen=True)
class Line:
    """One row of the plot."""

    y: float
    name: str
    ours: str
    marks: list[Mark]


@dataclass(frozen=True)
class Plot:
    """All positions in pixels."""

    width: float
    height: float
    ticks: list[tuple[float, str]]
    one: float
    lines: list[Line]
    others: tuple[str, ...] = OTHERS


def of(results: dict[str, Any]) -> Plot:
    """Lay out the rows in which another implementation is measured too."""
    costs = [(row, _costs(row)) for row in results["rows"]]
    costs = [(row, by) for row, by in costs if by]
    every = [cost for _, by in costs for cost in by.values()]
    low, high = math.floor(math.log2(min(every, default=0.5))), math.ceil(math.log2(max(every, default=2.0)))

    def x(cost: float) -> float:
        return round(LEFT + (math.log2(cost) - low) / (high - low) * (WIDTH - LEFT - RIGHT), 1)

    lines = [
        Line(
            y=TOP + ROW * index,
            name=row["name"],
            ours=_ours(row),
            marks=[Mark(name, x(cost), f"{name}: {cost:.2f} times our cost") for name, cost in by.items()],
        )
        for index, (row, by) in enumerate(costs)
    ]
    ticks = [(x(2.0**power), f"{2.0**power:g}x") for power in range(low, high + 1)]
    return Plot(WIDTH, TOP + ROW * len(lines), ticks, x(1), lines)


def _costs(row: dict[str, Any]) -> dict[str, float]:
    """Return the cost of each implementation relative to ours: the median over the rounds, of the first quantity."""
    key = row["quantities"][0]["key"]
    samples = row["samples"]
    ours = [each[key] for each in samples[OURS]]
    return {
        name: statistics.median(each[key] / mine for each, mine in zip(samples[name], ours, strict=True))
        for name in OTHERS
        if name in samples
    }


def _ours(row: dict[str, Any]) -> str:
    quantity = row["quantities"][0]
    return f"{number(quantity['by'][OURS]['median'])} {quantity['unit']}"
