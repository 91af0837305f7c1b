"""Rows about what acp_kit costs an agent."""

from __future__ import annotations

from functools import partial

from benchmarks.implementations import OURS, program, run
from benchmarks.measuring import Quantity, Row, no_more_than
from benchmarks.setup import Setup

CHUNKS = 20_000


def rows(setup: Setup) -> list[Row]:
    return [saying(setup), importing()]


def saying(setup: Setup) -> Row:
    count = setup.scaled(CHUNKS, least=200)
    return Row(
        name="say",
        description=f"An agent sends {count:,} chunks with `Turn.say`, to a peer that only reads. CPU time of the "
        "agent's thread. Ratio: to the time of as many calls of `session_update` with chunks that the agent creates.",
        quantities=[Quantity("seconds", "updates/s", count=count), Quantity("ratio", "ratio")],
        measures={OURS: partial(run, program("ours", "turn.py"), count)},
        targets=[no_more_than(1.15, key="ratio")],
    )


def importing() -> Row:
    return Row(
        name="import-kit",
        description="An agent imports `Session`, `Sessions`, `Turn` and `Rejected` from `acp_kit.agent`, after what it "
        "imports from `acp_bindings.v1`. CPU time.",
        quantities=[Quantity("seconds", "ms CPU", factor=1000)],
        measures={OURS: partial(run, program("ours", "import_kit.py"))},
        targets=[no_more_than(0.006, key="seconds")],
        warm=True,
    )
