"""Finds the topic of each definition, by the rules at the top of `topics.toml`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from codegen.errors import FileError
from codegen.ir import Method, Schema
from codegen.read.topics_file import FILE, Topic


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


def check_topics(schemas: Mapping[str, Schema], topics: tuple[Topic, ...]) -> None:
    """Check that no definition is listed that an earlier topic has in all schemas.

    What no schema has is no mistake: upstream may remove it, or add it in a draft first.

    Args:
        schemas: the pinned schemas by profile.
        topics: the topics.

    Raises:
        FileError: a definition is in an earlier topic in all of them.
    """
    places = [find_topics(schema, topics) for schema in schemas.values()]
    for topic in topics:
        for name in topic.types:
            own = [place[name] for place in places if name in place]
            if own and topic not in own:
                raise _mistake(topic, f"{name!r} is in {own[0].name!r} already. Remove it, or list it in that topic.")


def _mistake(topic: Topic, sentence: str) -> FileError:
    return FileError("", f"{FILE}, topic {topic.name!r}: {sentence}")


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
