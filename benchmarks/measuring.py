"""A row of the table, and how it is measured: every implementation in turn, round by round.

Ratios are taken within a round, so that a machine whose speed drifts changes both sides alike. The order rotates, so
that nobody always comes after the same one.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from benchmarks.implementations import FLOOR, OURS, Sample

Measure = Callable[[], Sample]


@dataclass(frozen=True)
class Quantity:
    """Something that is measured, and how it is shown.

    Attributes:
        key: its name in a sample. All are costs: less is better.
        unit: what it is shown in.
        factor: turns a sample into that unit.
        count: if given, the rate of so many per sample is shown instead.
    """

    key: str
    unit: str
    factor: float = 1.0
    count: int | None = None

    def shown(self, value: float) -> float:
        return self.count / value if self.count else value * self.factor


@dataclass(frozen=True)
class Bar:
    """What a row has to reach: a ratio of two implementations, or with `under` left out a number of ours.

    Attributes:
        key: the quantity.
        sign: how the ratio compares to the limit.
        limit: the bar.
        over: the implementation above the line.
        under: the one below the line.
    """

    key: str
    sign: Literal["≤", "≥"]
    limit: float
    over: str = OURS
    under: str | None = None

    def ratios(self, samples: dict[str, list[Sample]]) -> list[float]:
        """One for each round; none if one of the two is missing."""
        over = [each[self.key] for each in samples.get(self.over, [])]
        if self.under is None:
            return over
        under = [each[self.key] for each in samples.get(self.under, [])]
        return [a / b for a, b in zip(over, under, strict=False)]

    def is_passed(self, ratio: float) -> bool:
        return ratio <= self.limit if self.sign == "≤" else ratio >= self.limit


def at_most(limit: float, *, times: str = FLOOR, key: str = "seconds") -> Bar:
    """Ours costs at most so many times what another one does."""
    return Bar(key, "≤", limit, over=OURS, under=times)


def at_least(limit: float, *, better_than: str, key: str = "seconds") -> Bar:
    """Another one costs at least so many times what ours does."""
    return Bar(key, "≥", limit, over=better_than, under=OURS)


def no_more_than(limit: float, *, key: str) -> Bar:
    """A number of ours."""
    return Bar(key, "≤", limit)


@dataclass(frozen=True)
class Row:
    """One row.

    Attributes:
        name: what `python -m benchmarks <name>` calls it.
        what: what is done, and between which two moments it is timed.
        quantities: what is shown; the first is what is plotted.
        measures: by implementation, in the order of the first round.
        bars: what it has to reach.
        missing: by implementation, why it is not measured.
        warm: whether each is run once before, so that files and bytecode are cached.
    """

    name: str
    what: str
    quantities: Sequence[Quantity]
    measures: Mapping[str, Measure]
    bars: Sequence[Bar] = ()
    missing: dict[str, str] = field(default_factory=dict[str, str])
    warm: bool = False


@dataclass(frozen=True)
class Spread:
    """A median with the quartiles around it."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        if len(values) == 1:
            return cls(values[0], values[0], values[0])
        low, median, high = statistics.quantiles(values, n=4, method="inclusive")
        return cls(median, low, high)


def measure(row: Row, rounds: int, report: Callable[[str], None]) -> dict[str, list[Sample]]:
    """Measure a row in so many rounds. Gives the samples by implementation, in the order of rounds."""
    samples: dict[str, list[Sample]] = {name: [] for name in row.measures}
    if row.warm:
        for run in row.measures.values():
            run()
    for number in range(rounds):
        for name in _rotated(list(row.measures), number):
            report(f"{row.name}: round {number + 1} of {rounds}, {name}")
            samples[name].append(row.measures[name]())
    return samples


def _rotated(names: list[str], by: int) -> Iterator[str]:
    start = by % len(names)
    yield from names[start:]
    yield from names[:start]
