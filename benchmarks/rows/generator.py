"""What `make regen` costs, and what it costs for more definitions than upstream has."""

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
# How much more a definition may cost between the last two sizes than between the first two.
LINEAR = 1.25


def rows(setup: Setup) -> list[Row]:
    sizes = [f"{times}x" for times in _times(setup)]
    return [
        Row(
            name="regen",
            what="`make regen` of the four profiles into an empty folder; then of version 1 alone with its definitions "
            f"{', '.join(sizes)}. Growth: the CPU time for a further definition from {sizes[1]} to {sizes[2]}, to the "
            f"same from {sizes[0]} to {sizes[1]}.",
            quantities=[
                Quantity("seconds", "s"),
                *(Quantity(each, f"s CPU for {each}") for each in sizes),
                Quantity("growth", "growth"),
            ],
            measures={OURS: partial(_measure, setup)},
            bars=[no_more_than(15, key="seconds"), no_more_than(LINEAR, key="growth")],
        )
    ]


def _times(setup: Setup) -> tuple[int, int, int]:
    """How many times the definitions of version 1."""
    return (1, 4, 16) if setup.scale >= 1 else (1, 2, 3)


def _measure(setup: Setup) -> Sample:
    times = _times(setup)
    first, second, third = (_regenerated(_schemas(setup, each))["cpu"] for each in times)
    growth = (third - second) / (times[2] - times[1]) / ((second - first) / (times[1] - times[0]))
    by_size = zip((f"{each}x" for each in times), (first, second, third), strict=True)
    return {"seconds": _regenerated(SCHEMA)["seconds"], **dict(by_size), "growth": growth}


def _schemas(setup: Setup, times: int) -> Path:
    """A folder with a schema of version 1 that is so many times as large."""
    return setup.file(f"{times}x/v1/schema.json", lambda: grow(SCHEMA / "v1" / "schema.json", times)).parents[1]


def _regenerated(schemas: Path) -> Sample:
    with tempfile.TemporaryDirectory() as output:
        command = [sys.executable, "-m", "codegen", "regen", "--schema", str(schemas), "--output", output]
        return run(program("raw", "process.py"), *command)
