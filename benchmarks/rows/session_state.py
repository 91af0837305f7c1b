"""A row about `SessionState`: whether a chunk costs the same however long the message is."""

from __future__ import annotations

from functools import partial

from benchmarks.implementations import OURS, program, run
from benchmarks.measuring import Quantity, Row, no_more_than
from benchmarks.setup import Setup

CHUNKS = 100_000
# The most that the second half may cost, relative to the first.
LINEAR = 1.25


def rows(setup: Setup) -> list[Row]:
    count = setup.scaled(CHUNKS, least=200)
    return [
        Row(
            name="state",
            description=f"`SessionState.apply` gets {count:,} `agent_message_chunk` updates of one message. CPU time, "
            "without creating the updates. Growth: the time of the second half divided by that of the first.",
            quantities=[Quantity("seconds", "updates/s", count=count), Quantity("growth", "growth")],
            measures={OURS: partial(run, program("ours", "state.py"), count)},
            targets=[no_more_than(LINEAR, key="growth")],
        )
    ]
