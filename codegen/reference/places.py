"""Decides which page each type is on.

The params and the result of a method are on the method's page, with the members if they are unions. Every other type
is on the page of its topic.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from codegen.data.topics import Topic, find_topics
from codegen.ir import Method, Schema, Union


@dataclass(frozen=True)
class Place:
    """Where a type is described.

    Attributes:
        file: the page, without the suffix.
        heading: its heading there.
    """

    file: str
    heading: str

    @property
    def link(self) -> str:
        return f"{self.file}.md#{anchor(self.heading)}"


def anchor(heading: str) -> str:
    """Return the anchor that Sphinx and GitHub give to a heading."""
    return heading.lower().replace(" ", "-").replace(":", "")


def method_file(method: Method) -> str:
    """Return the name of a method's page, without the suffix."""
    return method.constant.lower()


def topic_file(topic: Topic) -> str:
    """Return the name of the page about a topic's types, without the suffix."""
    return f"types_{topic.name}"


def find_places(schema: Schema, topics: tuple[Topic, ...]) -> dict[str, Place]:
    """Return the place of every public type, in the order of the pages."""
    places: dict[str, Place] = {}
    for method in schema.methods:
        for title, name in (("Params", method.params), ("Result", method.result)):
            if name:
                places.setdefault(name, Place(method_file(method), f"{title}: {name}"))
                for member in members(schema, name):
                    places.setdefault(member, Place(method_file(method), member))
    for name, topic in find_topics(schema, topics).items():
        if name not in schema.envelopes:
            places.setdefault(name, Place(topic_file(topic), name))
    return places


def members(schema: Schema, name: str) -> Iterator[str]:
    """Yield the members of a union, those of unions in it included."""
    found = schema.definitions[name]
    if isinstance(found, Union):
        for member in found.members:
            yield member.name
            yield from members(schema, member.name)
