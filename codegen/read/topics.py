"""Finds the topic of each definition, by the rules at the top of `topics.toml`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from codegen.ir import Method, Schema
from codegen.read.topics_file import Topic


def find_topics(schema: Schema, topics: tuple[Topic, ...]) -> dict[str, Topic]:
    """Return the topic of every definition: in the order of the topics, and a definition before what it consists of.

    What a definition consists of is in the same topic or an earlier one. Whole messages have none: the runtime makes
    them.
    """
    found: dict[str, Topic] = {}
    for topic in topics:
        _place(schema, found, topic, (*topic.types, *_payloads(schema, topic)))
    _place(schema, found, topics[-1], (name for name in schema.definitions if name not in schema.envelopes))
    return found


def _payloads(schema: Schema, topic: Topic) -> Iterator[str]:
    """Yield the params and results of a topic's methods."""
    for wire in topic.methods:
        for method in schema.methods:
            if _is_listed(method, wire):
                yield from (name for name in (method.params, method.result) if name)


def _is_listed(method: Method, wire: str) -> bool:
    return method.wire.startswith(wire) if wire.endswith("/") else method.wire == wire


def _place(schema: Schema, found: dict[str, Topic], topic: Topic, names: Iterable[str]) -> None:
    """Add definitions and everything that they consist of to a topic, except for what has a topic already."""
    waiting = list(names)[::-1]
    while waiting:
        name = waiting.pop()
        if name in schema.definitions and name not in found:
            found[name] = topic
            waiting += list(schema.uses(name))[::-1]
