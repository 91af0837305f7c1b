"""Rows about updates in one session: received, sent, and streamed from end to end."""

from __future__ import annotations

from functools import partial

from benchmarks import lines
from benchmarks.implementations import FLOOR, PYTHON_SDK, TYPESCRIPT_SDK, Sample, Task, program, run
from benchmarks.measuring import Measure, Quantity, Row, at_least, at_most
from benchmarks.setup import Setup

UPDATES = 50_000
# The characters of text in an update, whose line then has about 200 bytes.
SIZE = 40


def rows(setup: Setup) -> list[Row]:
    return [receive(setup), send(setup), stream(setup)]


def receive(setup: Setup) -> Row:
    count = setup.scaled(UPDATES, least=20)
    return Row(
        name="receive",
        description=f"A raw process writes {count:,} `agent_message_chunk` updates, and a client's handler counts "
        "them. Timed from the prompt until the last one is handled. Floor: pydantic-core validates the same lines in a "
        "loop.",
        quantities=[Quantity("seconds", "updates/s", count=count)],
        measures=_received(setup, count),
        targets=[at_most(2.9), at_least(2.5, better_than=PYTHON_SDK)],
        missing=setup.implementations.missing,
    )


def send(setup: Setup) -> Row:
    count = setup.scaled(UPDATES, least=20)
    sides = setup.implementations
    task, raw = _task(count), program("raw", "client.py")
    measures = {name: partial(run, raw, task, *sides.command(name, "agent")) for name in sides.names}
    measures[FLOOR] = partial(run, program("floor", "build.py"), _warm(count), count, SIZE)
    return Row(
        name="send",
        description=f"An agent's handler builds and sends {count:,} updates, and a raw process counts lines. Timed "
        "from the prompt to its response. Floor: a loop that builds the same models and dumps them to JSON.",
        quantities=[Quantity("seconds", "updates/s", count=count)],
        measures=measures,
        targets=[at_most(2), at_least(1.8, better_than=PYTHON_SDK)],
        missing=sides.missing,
    )


def stream(setup: Setup) -> Row:
    count = setup.scaled(UPDATES, least=20)
    sides = setup.implementations
    task = _task(count)
    return Row(
        name="stream",
        description=f"An agent's handler sends {count:,} updates over stdio to a client's handler of the same "
        "implementation. Timed from the prompt until the last one is handled.",
        quantities=[Quantity("seconds", "updates/s", count=count)],
        measures={
            name: partial(run, sides.command(name, "client"), task, *sides.command(name, "agent"))
            for name in sides.names
        },
        targets=[at_least(1.6, better_than=PYTHON_SDK), at_least(1.1, better_than=TYPESCRIPT_SDK)],
        missing=sides.missing,
    )


def _received(setup: Setup, count: int) -> dict[str, Measure]:
    def receive(name: str) -> Sample:
        path = str(setup.file("chunks.jsonl", lambda: lines.chunks(count)))
        if name == FLOOR:
            return run(program("floor", "validate.py"), path, _warm(count), count)
        client = setup.implementations.command(name, "client")
        return run(client, _task(count), *program("raw", "agent.py"), path)

    return {name: partial(receive, name) for name in (*setup.implementations.names, FLOOR)}


def _task(count: int) -> Task:
    return {"do": "updates", "warm": _warm(count), "count": count, "size": SIZE}


def _warm(count: int) -> int:
    """Return the number of updates before those that are timed."""
    return count // 20
