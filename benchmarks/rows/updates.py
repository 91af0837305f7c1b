"""Updates that stream in one session: received, sent, and from end to end."""

from __future__ import annotations

from functools import partial

from benchmarks import lines
from benchmarks.implementations import FLOOR, PYTHON_SDK, TYPESCRIPT_SDK, program, run
from benchmarks.measuring import Quantity, Row, at_least, at_most
from benchmarks.setup import Setup

UPDATES = 50_000
# The length of a text; an update is a line of 200 bytes with it.
SIZE = 40


def rows(setup: Setup) -> list[Row]:
    return [receive(setup), send(setup), stream(setup)]


def receive(setup: Setup) -> Row:
    count, warm = _counts(setup)
    path = setup.folder / "chunks.jsonl"
    path.write_bytes(lines.chunks(count))
    sides = setup.implementations
    task = {"warm": warm, "count": count, "size": 0}
    raw = program("raw", "agent.py")
    measures = {name: partial(run, sides.command(name, "client"), task, *raw, str(path)) for name in sides.names}
    measures[FLOOR] = partial(run, program("floor", "validate.py"), str(path), warm, count)
    return Row(
        name="receive",
        what=f"a raw process writes {count:,} agent_message_chunk, a client's handler counts them; "
        "from the prompt to the last one handled. Floor: pydantic-core validates the same lines in a loop.",
        quantities=[Quantity("seconds", "updates/s", count=count)],
        measures=measures,
        bars=[at_most(1.6), at_least(4, better_than=PYTHON_SDK)],
        missing=sides.missing,
    )


def send(setup: Setup) -> Row:
    count, warm = _counts(setup)
    sides = setup.implementations
    task = {"warm": warm, "count": count, "size": SIZE}
    raw = program("raw", "client.py")
    measures = {name: partial(run, raw, task, *sides.command(name, "agent")) for name in sides.names}
    measures[FLOOR] = partial(run, program("floor", "build.py"), warm, count, SIZE)
    return Row(
        name="send",
        what=f"an agent's handler builds and sends {count:,} updates, a raw process counts lines; "
        "from the prompt to its answer. Floor: the same models built and made JSON of in a loop.",
        quantities=[Quantity("seconds", "updates/s", count=count)],
        measures=measures,
        bars=[at_most(1.6), at_least(4, better_than=PYTHON_SDK)],
        missing=sides.missing,
    )


def stream(setup: Setup) -> Row:
    count, warm = _counts(setup)
    sides = setup.implementations
    task = {"warm": warm, "count": count, "size": SIZE}
    return Row(
        name="stream",
        what=f"{count:,} updates from an agent's handler to a client's, both of one implementation, over stdio; "
        "from the prompt to the last one handled.",
        quantities=[Quantity("seconds", "updates/s", count=count)],
        measures={
            name: partial(run, sides.command(name, "client"), task, *sides.command(name, "agent"))
            for name in sides.names
        },
        bars=[at_least(3, better_than=PYTHON_SDK), at_least(3, better_than=TYPESCRIPT_SDK)],
        missing=sides.missing,
    )


def _counts(setup: Setup) -> tuple[int, int]:
    """How many updates are timed, and how many come before."""
    count = setup.scaled(UPDATES, least=20)
    return count, count // 20
