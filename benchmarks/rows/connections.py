"""Many agents of one client, and what a connection holds while nothing or too much comes."""

from __future__ import annotations

from functools import partial

from benchmarks import lines
from benchmarks.implementations import PYTHON_SDK, Command, Sample, Task, program, run
from benchmarks.measuring import Measure, Quantity, Row, at_least, no_more_than
from benchmarks.setup import Setup

AGENTS = 200
UPDATES = 500
FLOODS = (50_000, 200_000)
# A handler sleeps a millisecond at every so many updates of a flood.
SLOW = 100
# How much more memory the larger flood may take.
FLAT = 1.1
_MIB = 1 / 2**20


def rows(setup: Setup) -> list[Row]:
    return [many_agents(setup), idle(setup), flood(setup)]


def many_agents(setup: Setup) -> Row:
    agents, count = setup.scaled(AGENTS, least=2), setup.scaled(UPDATES, least=20)
    return Row(
        name="agents",
        what=f"A client with {agents} agents, each a raw process of its own that writes {count} updates; timed from "
        "the prompts to the last update handled. Lag: when the last agent was done, to the median of all.",
        quantities=[Quantity("seconds", "updates/s", count=agents * count), Quantity("lag", "lag")],
        measures=_measures(setup, {"do": "agents", "agents": agents, "warm": 10, "count": count}),
        bars=[at_least(3, better_than=PYTHON_SDK), no_more_than(2, key="lag")],
        missing=setup.implementations.missing,
    )


def idle(setup: Setup) -> Row:
    agents = setup.scaled(AGENTS, least=2)
    return Row(
        name="idle",
        what=f"What each of {agents} agents with an open session adds to the peak memory of their client.",
        quantities=[Quantity("idle", "KiB", factor=1 / 1024)],
        measures=_measures(setup, {"do": "agents", "agents": agents, "warm": 0, "count": 1}),
        missing=setup.implementations.missing,
    )


def flood(setup: Setup) -> Row:
    counts = {f"{count:,} updates": count for count in (setup.scaled(each, least=100) for each in FLOODS)}
    few, many = counts
    return Row(
        name="flood",
        what=f"As receive, with {few} or {many} and a handler that sleeps 1 ms at every {SLOW}th: the client's peak "
        "memory. Growth: that of more updates to that of fewer.",
        quantities=[*(Quantity(label, f"MiB, {label}", factor=_MIB) for label in counts), Quantity("growth", "growth")],
        measures={name: partial(_flood, setup, name, counts) for name in setup.implementations.names},
        bars=[no_more_than(FLAT, key="growth")],
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
    """The same process for everybody, with the least of Python that can write lines."""
    return [*program("raw", "agent.py"), str(setup.file("short.jsonl", lambda: lines.chunks(UPDATES)))]
