"""Rows about what a tap adds to the traffic that it records."""

from __future__ import annotations

import sys
from functools import partial

from benchmarks import lines
from benchmarks.implementations import FLOOR, OURS, Sample, Task, program, run
from benchmarks.measuring import Quantity, Row, at_most, no_more_than
from benchmarks.setup import Setup

PROMPTS = 2_000
UPDATES = 50_000


def rows(setup: Setup) -> list[Row]:
    tap = [sys.executable, "-m", "acp_kit", "tap", "--to", str(setup.folder / "tap.jsonl"), "--"]
    return [latency(setup, tap), stream(setup, tap)]


def latency(setup: Setup, tap: list[str]) -> Row:
    count = setup.scaled(PROMPTS, least=10)
    task: Task = {"do": "tap", "tap": " ".join(tap), "count": count}

    def run_pairs() -> Sample:
        chunks = setup.file("warm.jsonl", lambda: lines.chunks(10))
        return run(program("raw", "client.py"), task, *program("raw", "agent.py"), str(chunks))

    return Row(
        name="tap-latency",
        description=f"Two raw processes exchange {count:,} prompts, one after the other, each answered immediately: "
        "the time that `acp-bindings tap` between them adds to a message. The median of five pairs.",
        quantities=[Quantity("added", "µs", factor=1e6)],
        measures={OURS: run_pairs},
        targets=[no_more_than(0.0001, key="added")],
    )


def stream(setup: Setup, tap: list[str]) -> Row:
    count = setup.scaled(UPDATES, least=20)
    task: Task = {"do": "updates", "warm": max(20, count // 10), "count": count, "size": 40, "slow": 0}
    client, agent = (setup.implementations.command(OURS, side) for side in ("client", "agent"))
    return Row(
        name="tap-stream",
        description=f"The same as stream, with {count:,} updates and `acp-bindings tap` between agent and client. "
        "Floor: without it.",
        quantities=[Quantity("seconds", "updates/s", count=count)],
        measures={OURS: partial(run, client, task, *tap, *agent), FLOOR: partial(run, client, task, *agent)},
        targets=[at_most(1 / 0.9)],
    )
