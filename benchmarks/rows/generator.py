"""A row about `make regen`, and how its time grows with the number of definitions."""

from __future__ import annotations

import sys
import tempfile
from functools import partial
from pathlib import Path

from benchmarks.implementations import OURS, Sample, program, run
from benchmarks.measuring import Quantity, Row, no_more_than
from benchmarks.schemas import grow
from benchmarks.setup import Setup

SCHEMA = Path(__file__).resolve().parents[2] / "schema"
# The most that a further definition may cost at the larger sizes, relative to the smaller ones.
LINEAR = 1.25


def rows(setup: Setup) -> list[Row]:
    sizes = [f"{times}x" for times in _times(setup)]
    return [
        Row(
            name="regen",
            description="`make regen` of the four profiles into an empty folder, then of version 1 alone with its "
            f"definitions {', '.join(sizes)}. Growth: the CPU time for each further definition from {sizes[1]} to "
            f"{sizes[2]}, divided by the same from {sizes[0]} to {sizes[1]}.",
            quantities=[
                Quantity("seconds", "s"),
                *(Quantity(each, f"s CPU for {each}") for each in sizes),
                Quantity("growth", "growth"),
            ],
            measures={OURS: partial(_measure, setup)},
            targets=[no_more_than(15, key="seconds"), no_more_than(LINEAR, key="growth")],
        )
    ]


def _times(setup: Setup) -> tuple[int, int, int]:
    """Return the three sizes, in multiples of version 1's definitions."""
    return (1, 4, 16) if setup.scale >= 1 else (1, 2, 3)


def _measure(setup: Setup) -> Sample:
    times = _times(setup)
    first, second, third = (_regenerated(_schemas(setup, each))["cpu"] for each in times)
    growth = (third - second) / (times[2] - times[1]) / ((second - first) / (times[1] - times[0]))
    by_size = zip((f"{each}x" for each in times), (first, second, third), strict=True)
    return {"seconds": _regenerated(SCHEMA)["seconds"], **dict(by_size), "growth": growth}


def _schemas(setup: Setup, times: int) -> Path:
    """Return a folder with version 1's schema, its definitions copied this many times."""
    return setup.file(f"{times}x/v1/schema.json", lambda: grow(SCHEMA / "v1" / "schema.json", times)).parents[1]


def _regenerated(schemas: Path) -> Sample:
    with tempfile.TemporaryDirectory() as output:
        command = [sys.executable, "-m", "codegen", "regen", "--schema", str(schemas), "--output", output]
        return run(program("raw", "process.py"), *command)
