"""Updates that stream in one session: received, sent, from end to end, and of every kind."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from benchmarks import lines, traffic
from benchmarks.implementations import FLOOR, OURS, PYTHON_SDK, TYPESCRIPT_SDK, Sample, Task, program, run
from benchmarks.measuring import Measure, Quantity, Row, at_least, at_most
from benchmarks.setup import Setup

UPDATES = 50_000
MIXED = 20_000
# The length of a text; an update is a line of some 200 bytes with it.
SIZE = 40


def rows(setup: Setup) -> list[Row]:
    return [receive(setup), send(setup), stream(setup), mixed(setup)]


def receive(setup: Setup) -> Row:
    count = setup.scaled(UPDATES, least=20)
    return Row(
        name="receive",
        what=f"A raw process writes {count:,} agent_message_chunk, a client's handler counts them; timed from the "
        "prompt to the last one handled. Floor: pydantic-core validates the same lines in a loop.",
        quantities=[Quantity("seconds", "updates/s", count=count)],
        measures=_received(setup, setup.implementations.names, count, lines.chunks),
        bars=[at_most(1.6), at_least(4, better_than=PYTHON_SDK)],
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
        what=f"An agent's handler builds and sends {count:,} updates, a raw process counts lines; timed from the "
        "prompt to its answer. Floor: the same models built and made JSON of in a loop.",
        quantities=[Quantity("seconds", "updates/s", count=count)],
        measures=measures,
        bars=[at_most(1.6), at_least(4, better_than=PYTHON_SDK)],
        missing=sides.missing,
    )


def stream(setup: Setup) -> Row:
    count = setup.scaled(UPDATES, least=20)
    sides = setup.implementations
    task = _task(count)
    return Row(
        name="stream",
        what=f"{count:,} updates from an agent's handler to a client's, both of one implementation, over stdio; "
        "timed from the prompt to the last one handled.",
        quantities=[Quantity("seconds", "updates/s", count=count)],
        measures={
            name: partial(run, sides.command(name, "client"), task, *sides.command(name, "agent"))
            for name in sides.names
        },
        bars=[at_least(3, better_than=PYTHON_SDK), at_least(3, better_than=TYPESCRIPT_SDK)],
        missing=sides.missing,
    )


def mixed(setup: Setup) -> Row:
    count = setup.scaled(MIXED, least=20)
    peers = dict.fromkeys(setup.implementations.peers, "does not know every kind of update")
    return Row(
        name="mixed",
        what=f"As receive, with {count:,} updates of every kind: tool calls, diffs, plans, terminals, options, usage.",
        quantities=[Quantity("seconds", "updates/s", count=count)],
        measures=_received(setup, [OURS], count, traffic.mixed),
        bars=[at_most(1.6)],
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
    """How many come before those that are timed."""
    return count // 20
