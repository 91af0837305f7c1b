"""Rows about many connections of one client, and the memory of a connection when idle and when flooded."""

from __future__ import annotations

from functools import partial

from benchmarks import lines
from benchmarks.implementations import PYTHON_SDK, Command, Sample, Task, program, run
from benchmarks.measuring import Measure, Quantity, Row, at_least, no_more_than
from benchmarks.setup import Setup

AGENTS = 200
UPDATES = 500
FLOODS = (50_000, 200_000)
# The handler of a flood sleeps for a millisecond every SLOW updates.
SLOW = 100
# The most that the larger flood's memory may be, relative to the smaller one's.
FLAT = 1.1
_MIB = 1 / 2**20


def rows(setup: Setup) -> list[Row]:
    return [many_agents(setup), idle(setup), flood(setup)]


def many_agents(setup: Setup) -> Row:
    agents, count = setup.scaled(AGENTS, least=2), setup.scaled(UPDATES, least=20)
    return Row(
        name="agents",
        description=f"A client has {agents} agents. Each is a separate raw process that writes {count} updates. Timed "
        "from the prompts until the last update is handled. Lag: the time of the last agent divided by the median.",
        quantities=[Quantity("seconds", "updates/s", count=agents * count), Quantity("lag", "lag")],
        measures=_measures(setup, {"do": "agents", "agents": agents, "warm": 10, "count": count}),
        targets=[at_least(3, better_than=PYTHON_SDK), no_more_than(2, key="lag")],
        missing=setup.implementations.missing,
    )


def idle(setup: Setup) -> Row:
    agents = setup.scaled(AGENTS, least=2)
    return Row(
        name="idle",
        description=f"The memory that each of {agents} agents with an open session adds to their client's peak.",
        quantities=[Quantity("idle", "KiB", factor=1 / 1024)],
        measures=_measures(setup, {"do": "agents", "agents": agents, "warm": 0, "count": 1}),
        targets=[at_least(1, better_than=PYTHON_SDK, key="idle")],
        missing=setup.implementations.missing,
    )


def flood(setup: Setup) -> Row:
    counts = {f"{count:,} updates": count for count in (setup.scaled(each, least=100) for each in FLOODS)}
    few, many = counts
    return Row(
        name="flood",
        description=f"The client's peak memory when it receives {few} or {many} and its handler sleeps for 1 ms every "
        f"{SLOW} updates. Growth: the memory for {many} divided by the memory for {few}.",
        quantities=[*(Quantity(label, f"MiB, {label}", factor=_MIB) for label in counts), Quantity("growth", "growth")],
        measures={name: partial(_flood, setup, name, counts) for name in setup.implementations.names},
        targets=[no_more_than(FLAT, key="growth")],
        missing=setup.implementations.missing,
    )


def _flood(setup: Setup, name: str, counts: dict[str, int]) -> Sample:
    client, raw = setup.implementations.command(name, "client"), _raw(setup)
    peaks = {label: run(client, _flood_task(count), *raw)["peak"] for label, count in counts.items()}
    few, many = peaks.values()
    return {**peaks, "growth": many / few}


def _flood_task(count: int) -> Task:
    return {"do": "updates", "warm": 10, "count": count, "size": 40, "slow": SLOW}


def _measures(setup: Setup, task: Task) -> dict[str, Measure]:
    def connect(name: str) -> Sample:
        return run(setup.implementations.command(name, "client"), task, *_raw(setup))

    return {name: partial(connect, name) for name in setup.implementations.names}


def _raw(setup: Setup) -> Command:
    """Return the command of the agents, which is the same for all clients and loads as little of Python as possible."""
    return [*program("raw", "agent.py"), str(setup.file("short.jsonl", lambda: lines.chunks(UPDATES)))]
