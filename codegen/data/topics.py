"""Reads `topics.toml`, which divides the models into modules, and finds the topic of every definition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, field_validator
from pydantic.dataclasses import dataclass

from codegen.ir import Schema
from codegen.toml import Text, parse_toml, read_file, validate

FILE = "codegen/topics.toml"
TOPICS_TOML = Path(__file__).parents[1] / "topics.toml"


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Topic:
    """A module of models.

    Attributes:
        name: the name of the module.
        title: the title of its page in the reference.
        text: what it is about.
        types: definitions that belong to it, with those that they refer to.
        methods: methods whose params and results belong to it. A name that ends in a slash stands for all methods that
            begin with it.
    """

    name: Annotated[str, Field(pattern="^[a-z][a-z_]*$")]
    title: Text
    text: Text
    types: tuple[Text, ...]
    methods: tuple[Text, ...]


class _File(BaseModel, extra="forbid"):
    topics: Annotated[tuple[Topic, ...], Field(min_length=1)]

    @field_validator("topics")
    @classmethod
    def _have_own_entries(cls, topics: tuple[Topic, ...]) -> tuple[Topic, ...]:
        listed = [
            *(topic.name for topic in topics),
            *(name for topic in topics for name in topic.types),
            *(f"the method {name}" for topic in topics for name in topic.methods),
        ]
        for name, count in Counter(listed).items():
            if count > 1:
                raise ValueError(f"{name!r} is listed twice. Remove one of the entries")
        return topics


@cache
def read_topics() -> tuple[Topic, ...]:
    """Return the topics in order.

    Raises:
        FileError: the file is missing or invalid.
    """
    return parse_topics(read_file(TOPICS_TOML, FILE))


def parse_topics(content: bytes) -> tuple[Topic, ...]:
    """Parse the content of the file.

    Raises:
        FileError: it is invalid.
    """
    return validate(_File, parse_toml(content, FILE), FILE).topics


def find_topics(schema: Schema, topics: tuple[Topic, ...]) -> dict[str, Topic]:
    """Return the topic of every definition, in the order of the topics.

    The definitions that a definition refers to are in the same topic or an earlier one. Whole messages have no topic,
    because the runtime makes them.
    """
    topic_of: dict[str, Topic] = {}
    for topic in topics:
        for name in schema.reachable((*topic.types, *_find_payloads(schema, topic))):
            topic_of.setdefault(name, topic)
    for name in schema.reachable(name for name in schema.definitions if name not in schema.envelopes):
        topic_of.setdefault(name, topics[-1])
    return topic_of


def _find_payloads(schema: Schema, topic: Topic) -> Iterator[str]:
    """Yield the params and results of a topic's methods."""
    for wire in topic.methods:
        for method in schema.methods:
            if method.wire == wire or (wire.endswith("/") and method.wire.startswith(wire)):
                yield from (name for name in (method.params, method.result) if name)
