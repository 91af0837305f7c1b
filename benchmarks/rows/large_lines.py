"""Rows about one large message: whether its time is proportional to its size, and how much memory it needs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from benchmarks import lines
from benchmarks.implementations import FLOOR, PYTHON_SDK, Command, Sample, Task, program, run
from benchmarks.measuring import Quantity, Row, at_least, no_more_than
from benchmarks.setup import Setup

# Characters of text. The message has 2% more bytes, since JSON escapes each newline with two bytes.
SIZES = (3_000_000, 10_000_000, 30_000_000)
# The most that a byte of the largest message may cost, relative to a byte of the smallest.
LINEAR = 1.25
WARM = 20


def rows(setup: Setup) -> list[Row]:
    received = "A raw process writes one update of {}, and a client's handler receives it."
    sent = "An agent's handler sends one update of {}, and a raw process reads it."
    return [_row(setup, "large-received", received, _received), _row(setup, "large-sent", sent, _sent)]


def _row(setup: Setup, name: str, action: str, measure: Callable[[Setup, str, int], Sample]) -> Row:
    sizes = [setup.scaled(size, least=1000) for size in SIZES]
    labels = [f"{size / 1e6:g} MB" for size in sizes]
    sizes_listed = f"{', '.join(labels[:-1])} or {labels[-1]}"
    further = (
        "Timed from the prompt to its response. Floor: a raw process at both ends. Growth: the time per byte of the "
        "largest update divided by that of the smallest. Memory: further bytes at the peak for each further byte of "
        "the update."
    )
    return Row(
        name=name,
        description=f"{action.format(sizes_listed)} {further}",
        quantities=[
            *(Quantity(label, f"ms for {label}", factor=1000) for label in reversed(labels)),
            Quantity("growth", "growth"),
            Quantity("memory", "memory"),
        ],
        measures={
            name: partial(_by_size, partial(measure, setup, name), dict(zip(labels, sizes, strict=True)))
            for name in (*setup.implementations.names, FLOOR)
        },
        targets=[
            no_more_than(LINEAR, key="growth"),
            no_more_than(3, key="memory"),
            at_least(1, better_than=PYTHON_SDK, key=labels[-1]),
        ],
        missing=setup.implementations.missing,
    )


def _by_size(measure: Callable[[int], Sample], sizes: dict[str, int]) -> Sample:
    samples = {label: measure(size) for label, size in sizes.items()}
    seconds = {label: sample["seconds"] for label, sample in samples.items()}
    small, *_, large = sizes
    smallest, largest = (len(lines.of_size(sizes[label])) for label in (small, large))
    return {
        **seconds,
        "growth": (seconds[large] / largest) / (seconds[small] / smallest),
        "memory": (samples[large]["peak"] - samples[small]["peak"]) / (largest - smallest),
    }


def _received(setup: Setup, name: str, size: int) -> Sample:
    client = program("raw", "client.py") if name == FLOOR else setup.implementations.command(name, "client")
    return run(client, _task(size), *_raw_agent(setup, size))


def _sent(setup: Setup, name: str, size: int) -> Sample:
    agent = _raw_agent(setup, size) if name == FLOOR else setup.implementations.command(name, "agent")
    return run(program("raw", "client.py"), _task(size), *agent)


def _raw_agent(setup: Setup, size: int) -> Command:
    large = setup.file(f"{size}.jsonl", lambda: lines.of_size(size))
    warm = setup.file("warm.jsonl", lambda: lines.chunks(WARM))
    return [*program("raw", "agent.py"), str(large), str(warm)]


def _task(size: int) -> Task:
    return {"do": "updates", "warm": WARM, "count": 1, "size": size}
