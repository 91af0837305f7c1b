"""Rows about prompts that are answered immediately: one after the other, and many in flight."""

from __future__ import annotations

from functools import partial

from benchmarks.implementations import FLOOR, PYTHON_SDK, TYPESCRIPT_SDK, Task, program, run
from benchmarks.measuring import Measure, Quantity, Row, at_least, at_most
from benchmarks.setup import Setup

PROMPTS = 2_000
IN_FLIGHT = 64
CONCURRENT_PROMPTS = 12_800


def rows(setup: Setup) -> list[Row]:
    return [round_trip(setup), concurrent(setup)]


def round_trip(setup: Setup) -> Row:
    count = setup.scaled(PROMPTS, least=10)
    task: Task = {"do": "prompts", "warm": count // 10, "count": count, "in_flight": 1}
    measures = _measures(setup, task)
    measures[FLOOR] = partial(run, program("floor", "ping.py"), task, *program("floor", "echo.py"))
    return Row(
        name="round-trip",
        description=f"{count:,} prompts, one after the other, each answered immediately. The client and the agent use "
        "the same implementation. Floor: asyncio streams that echo a line.",
        quantities=[Quantity("seconds", "µs", factor=1e6 / count)],
        measures=measures,
        targets=[at_most(2), at_least(1.3, better_than=PYTHON_SDK), at_least(1.3, better_than=TYPESCRIPT_SDK)],
        missing=setup.implementations.missing,
    )


def concurrent(setup: Setup) -> Row:
    count = setup.scaled(CONCURRENT_PROMPTS, least=IN_FLIGHT) // IN_FLIGHT * IN_FLIGHT
    task: Task = {"do": "prompts", "warm": max(IN_FLIGHT, count // 10), "count": count, "in_flight": IN_FLIGHT}
    return Row(
        name="concurrent",
        description=f"{count:,} prompts, each answered immediately, in {IN_FLIGHT} sessions at a time.",
        quantities=[Quantity("seconds", "requests/s", count=count)],
        measures=_measures(setup, task),
        targets=[at_least(1.2, better_than=PYTHON_SDK), at_least(1.4, better_than=TYPESCRIPT_SDK)],
        missing=setup.implementations.missing,
    )


def _measures(setup: Setup, task: Task) -> dict[str, Measure]:
    sides = setup.implementations
    return {
        name: partial(run, sides.command(name, "client"), task, *sides.command(name, "agent")) for name in sides.names
    }
