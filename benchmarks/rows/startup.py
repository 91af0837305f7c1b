"""Rows about starting: the cost of importing, and the time until a client has its first responses."""

from __future__ import annotations

import sys
from functools import partial

from benchmarks.implementations import FLOOR, OURS, PYTHON_SDK, TYPESCRIPT_SDK, Command, Task, program, run
from benchmarks.measuring import Measure, Quantity, Row, at_least, at_most
from benchmarks.setup import Setup

_BARE = "from pydantic import BaseModel\nclass Model(BaseModel):\n    x: int\n"
_MILLISECONDS = Quantity("seconds", "ms", factor=1000)


def rows(setup: Setup) -> list[Row]:
    return [cold_start(setup), importing(), first_prompt(setup)]


def cold_start(setup: Setup) -> Row:
    return Row(
        name="cold-start",
        description="A raw process starts an agent. Timed from the start to the response of `initialize`. "
        "Floor: a script that imports asyncio and pydantic, defines one model and writes a line.",
        quantities=[_MILLISECONDS],
        measures=_measures(setup, "initialize"),
        targets=[at_most(1.6), at_least(1, better_than=TYPESCRIPT_SDK), at_least(2.2, better_than=PYTHON_SDK)],
        missing=setup.implementations.missing,
        warm=True,
    )


def importing() -> Row:
    raw = program("raw", "process.py")
    scripts = {OURS: "import acp_bindings.v1", FLOOR: _BARE}
    return Row(
        name="import",
        description="A process imports `acp_bindings.v1` and ends. Floor: it imports pydantic and defines one model.",
        quantities=[Quantity("cpu", "ms CPU", factor=1000), Quantity("peak", "MiB", factor=1 / 2**20)],
        measures={name: partial(run, raw, sys.executable, "-c", script) for name, script in scripts.items()},
        targets=[at_most(1, key="cpu"), at_most(1, key="peak")],
        warm=True,
    )


def first_prompt(setup: Setup) -> Row:
    return Row(
        name="first-prompt",
        description="The same as cold-start, followed by a session and a prompt that streams one update. Timed from "
        "the start to the prompt's response. Floor: that of cold-start.",
        quantities=[_MILLISECONDS],
        measures=_measures(setup, "prompt"),
        targets=[at_most(1.7)],
        missing=setup.implementations.missing,
        warm=True,
    )


def _measures(setup: Setup, until: str) -> dict[str, Measure]:
    agents = {name: setup.implementations.command(name, "agent") for name in setup.implementations.names}
    measures = {name: _measure_start(until, agent) for name, agent in agents.items()}
    measures[FLOOR] = _measure_start("line", program("floor", "start.py"))
    return measures


def _measure_start(until: str, command: Command) -> Measure:
    """Return a measure of the seconds from the start of a program until it has written or answered something."""
    task: Task = {"do": "start", "until": until}
    return partial(run, program("raw", "client.py"), task, *command)
