"""A row of the table, and how it is measured: in each round every implementation runs once.

Ratios are computed within a round, so that a change in the machine's speed affects both sides. The order rotates, so
that an implementation doesn't always run after the same other one.
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
    """A measured quantity, and how it is shown.

    Attributes:
        key: its name in a sample. Every quantity is a cost: less is better.
        unit: the unit in which it is shown.
        factor: converts a sample to that unit.
        count: if given, the quantity is shown as a rate: this count divided by the sample.
    """

    key: str
    unit: str
    factor: float = 1.0
    count: int | None = None

    def shown(self, value: float) -> float:
        return self.count / value if self.count else value * self.factor


@dataclass(frozen=True)
class Target:
    """A target for a row: a limit for the ratio of two implementations, or for a number of ours if `under` is None.

    Attributes:
        key: the quantity.
        sign: how the ratio must compare with the limit.
        limit: the limit.
        over: the implementation in the numerator.
        under: the implementation in the denominator.
    """

    key: str
    sign: Literal["≤", "≥"]
    limit: float
    over: str = OURS
    under: str | None = None

    def ratios(self, samples: dict[str, list[Sample]]) -> list[float]:
        """Return the ratio of each round; empty if one of the two is missing."""
        over = [sample[self.key] for sample in samples.get(self.over, [])]
        if self.under is None:
            return over
        under = [sample[self.key] for sample in samples.get(self.under, [])]
        return [a / b for a, b in zip(over, under, strict=False)]

    def is_passed(self, ratio: float) -> bool:
        return ratio <= self.limit if self.sign == "≤" else ratio >= self.limit


def at_most(limit: float, *, times: str = FLOOR, key: str = "seconds") -> Target:
    """Ours costs at most `limit` times as much as another implementation."""
    return Target(key, "≤", limit, over=OURS, under=times)


def at_least(limit: float, *, better_than: str, key: str = "seconds") -> Target:
    """Another implementation costs at least `limit` times as much as ours."""
    return Target(key, "≥", limit, over=better_than, under=OURS)


def no_more_than(limit: float, *, key: str) -> Target:
    """A number of ours is at most `limit`."""
    return Target(key, "≤", limit)


@dataclass(frozen=True)
class Row:
    """One row of the table.

    Attributes:
        name: the name for `python -m benchmarks <name>`.
        description: what is done, and where the timing starts and ends.
        quantities: the quantities that are measured. The first one is in the table of the page.
        measures: the function that takes a sample, by implementation, in the order of the first round.
        targets: the targets.
        missing: the reason why an implementation is not measured, by name.
        warm: whether each implementation is run once before, so that files and bytecode are cached.
    """

    name: str
    description: str
    quantities: Sequence[Quantity]
    measures: Mapping[str, Measure]
    targets: Sequence[Target] = ()
    missing: dict[str, str] = field(default_factory=dict[str, str])
    warm: bool = False


@dataclass(frozen=True)
class Spread:
    """A median with its quartiles."""

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
    """Measure a row, and return the samples of all rounds by implementation."""
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
