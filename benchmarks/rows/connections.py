"""Rows about many connections of one client, and the memory of an idle one."""

from __future__ import annotations

from functools import partial

from benchmarks import lines
from benchmarks.implementations import PYTHON_SDK, Command, Sample, Task, program, run
from benchmarks.measuring import Measure, Quantity, Row, at_least, no_more_than
from benchmarks.setup import Setup

AGENTS = 200
UPDATES = 500


def rows(setup: Setup) -> list[Row]:
    return [many_agents(setup), idle(setup)]


def many_agents(setup: Setup) -> Row:
    agents, count = setup.scaled(AGENTS, least=2), setup.scaled(UPDATES, least=20)
    return Row(
        name="agents",
        description=f"A client has {agents} agents. Each is a separate raw process that writes {count} updates. Timed "
        "from the prompts until the last update is handled. Lag: the time of the last agent divided by the median.",
        quantities=[Quantity("seconds", "updates/s", count=agents * count), Quantity("lag", "lag")],
        measures=_measures(setup, {"do": "agents", "agents": agents, "warm": 10, "count": count}),
        targets=[at_least(2.5, better_than=PYTHON_SDK), no_more_than(2, key="lag")],
        missing=setup.implementations.missing,
    )


def idle(setup: Setup) -> Row:
    agents = setup.scaled(AGENTS, least=2)
    return Row(
        name="idle",
        description=f"The memory that each of {agents} agents with an open session adds to their client's peak.",
        quantities=[Quantity("idle", "KiB", factor=1 / 1024)],
        measures=_measures(setup, {"do": "agents", "agents": agents, "warm": 0, "count": 1}),
        targets=[at_least(0.65, better_than=PYTHON_SDK, key="idle")],
        missing=setup.implementations.missing,
    )


def _measures(setup: Setup, task: Task) -> dict[str, Measure]:
    def connect(name: str) -> Sample:
        return run(setup.implementations.command(name, "client"), task, *_raw(setup))

    return {name: partial(connect, name) for name in setup.implementations.names}


def _raw(setup: Setup) -> Command:
    """Return the command of the agents, which is the same for all clients and loads as little of Python as possible."""
    return [*program("raw", "agent.py"), str(setup.file("short.jsonl", lambda: lines.chunks(UPDATES)))]
