"""Rows about updates in one session: received, sent, streamed from end to end, and of every kind."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from benchmarks import lines, traffic
from benchmarks.implementations import FLOOR, OURS, PYTHON_SDK, TYPESCRIPT_SDK, Sample, Task, program, run
from benchmarks.measuring import Measure, Quantity, Row, at_least, at_most
from benchmarks.setup import Setup

UPDATES = 50_000
MIXED = 20_000
# The characters of text in an update, whose line then has about 200 bytes.
SIZE = 40


def rows(setup: Setup) -> list[Row]:
    return [receive(setup), send(setup), stream(setup), mixed(setup)]


def receive(setup: Setup) -> Row:
    count = setup.scaled(UPDATES, least=20)
    return Row(
        name="receive",
        description=f"A raw process writes {count:,} `agent_message_chunk` updates, and a client's handler counts "
        "them. Timed from the prompt until the last one is handled. Floor: pydantic-core validates the same lines in a "
        "loop.",
        quantities=[Quantity("seconds", "updates/s", count=count)],
        measures=_received(setup, setup.implementations.names, count, lines.chunks),
        targets=[at_most(1.6), at_least(4, better_than=PYTHON_SDK)],
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
        targets=[at_most(1.6), at_least(4, better_than=PYTHON_SDK)],
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
        targets=[at_least(3, better_than=PYTHON_SDK), at_least(3, better_than=TYPESCRIPT_SDK)],
        missing=sides.missing,
    )


def mixed(setup: Setup) -> Row:
    count = setup.scaled(MIXED, least=20)
    peers = dict.fromkeys(setup.implementations.peers, "it lacks some kinds of updates")
    return Row(
        name="mixed",
        description=f"The same as receive, with {count:,} updates of every kind: tool calls, diffs, plans, terminals, "
        "options, usage.",
        quantities=[Quantity("seconds", "updates/s", count=count)],
        measures=_received(setup, [OURS], count, traffic.mixed),
        targets=[at_most(1.6)],
        missing=setup.implementations.missing | peers,
    )


def _received(setup: Setup, names: list[str], count: int, make: Callable[[int], bytes]) -> dict[str, Measure]:
    def receive(name: str) -> Sample:
        path = str(setup.file(f"{make.__name__}.jsonl", lambda: make(count)))
        if name == FLOOR:
            return run(program("floor", "validate.py"), path, _warm(count), count)
        client = setup.implementations.command(name, "client")
        return run(client, _task(count), *program("raw", "agent.py"), path)

    return {name: partial(receive, name) for name in (*names, FLOOR)}


def _task(count: int) -> Task:
    return {"do": "updates", "warm": _warm(count), "count": count, "size": SIZE, "slow": 0}


def _warm(count: int) -> int:
    """Return the number of updates before those that are timed."""
    return count // 20
