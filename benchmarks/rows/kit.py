"""A row about what acp_kit costs an agent."""

from __future__ import annotations

from functools import partial

from benchmarks.implementations import OURS, program, run
from benchmarks.measuring import Quantity, Row, no_more_than
from benchmarks.setup import Setup

CHUNKS = 20_000


def rows(setup: Setup) -> list[Row]:
    count = setup.scaled(CHUNKS, least=200)
    return [
        Row(
            name="say",
            description=f"An agent sends {count:,} chunks with `Turn.say`, to a peer that only reads. CPU time of the "
            "agent's thread. Ratio: to as many calls of `session_update` with chunks that the agent creates.",
            quantities=[Quantity("seconds", "updates/s", count=count), Quantity("ratio", "ratio")],
            measures={OURS: partial(run, program("ours", "turn.py"), count)},
            targets=[no_more_than(1.3, key="ratio")],
        )
    ]
