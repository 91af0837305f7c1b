"""Rows about what acp_kit costs an agent."""

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
            "agent's thread. Ratio: divided by the time of as many calls of `session_update`, with chunks that the "
            "agent creates.",
            quantities=[Quantity("seconds", "updates/s", count=count), Quantity("ratio", "ratio")],
            measures={OURS: partial(run, program("ours", "turn.py"), count)},
            targets=[no_more_than(1.3, key="ratio")],
        ),
        Row(
            name="as-v2",
            description=f"An agent of version 1 sends {count:,} chunks through `as_v2` to a client of version 2 that "
            "only reads. CPU time of the agent's thread. Ratio: divided by the time with a client of version 1.",
            quantities=[Quantity("seconds", "updates/s", count=count), Quantity("ratio", "ratio")],
            measures={OURS: partial(run, program("ours", "as_v2.py"), "updates", count)},
            targets=[no_more_than(3.5, key="ratio")],
        ),
        Row(
            name="as-v2-start",
            description="A process starts an agent with `as_v2`. Timed from the start to the response of `initialize` "
            "of version 2. Ratio: divided by the time with version 1.",
            quantities=[Quantity("seconds", "ms", factor=1000), Quantity("ratio", "ratio")],
            measures={OURS: partial(run, program("ours", "as_v2.py"), "start")},
            targets=[no_more_than(2, key="ratio")],
            warm=True,
        ),
    ]
