"""The content of the sections about types, and the page of each. `templates/section.md.jinja` renders them.

The params and the result of a method are on the method's page, with their members if they are unions. All other types
are on the pages of their topics.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from codegen.data.topics import Topic, find_topics
from codegen.ir import Definition, Field, Method, Model, Schema, Union
from codegen.reference.examples import META, Examples, format_json, to_json


@dataclass(frozen=True)
class Section:
    """A section about a type.

    Attributes:
        type: the type.
        file: the page, without the suffix.
        heading: its heading on the page.
        doc: upstream's description.
        example: JSON.
    """

    type: Definition
    file: str
    heading: str
    doc: str
    example: str

    @property
    def target(self) -> str:
        """The target of links to the section, with the anchor that Sphinx and GitHub make of the heading."""
        return f"{self.file}.md#{self.heading.lower().replace(' ', '-').replace(':', '')}"

    @property
    def kind(self) -> str:
        return self.type.__class__.__name__.lower()

    @property
    def properties(self) -> list[Field]:
        """A model's own fields, without `_meta` and the tag."""
        fields = self.type.fields if isinstance(self.type, Model) else ()
        return [field for field in fields if field.wire != META and field.tag is None]


def method_file(method: Method) -> str:
    """Return the name of a method's page, without the suffix."""
    return method.constant.lower()


def topic_file(topic: Topic) -> str:
    """Return the name of the page about a topic's types, without the suffix."""
    return f"types_{topic.name}"


def find_sections(schema: Schema, topics: tuple[Topic, ...], examples: Examples) -> dict[str, Section]:
    """Return the sections of all public types, in the order of the pages."""
    return {
        name: Section(
            type=schema.definitions[name],
            file=file,
            heading=heading,
            doc=schema.own_doc(schema.definitions[name]),
            example=format_json(to_json(examples.make(name))),
        )
        for name, (file, heading) in _find_places(schema, topics).items()
    }


def _find_places(schema: Schema, topics: tuple[Topic, ...]) -> dict[str, tuple[str, str]]:
    """Return the page and the heading of every public type."""
    places: dict[str, tuple[str, str]] = {}
    for method in schema.methods:
        for title, name in (("Params", method.params), ("Result", method.result)):
            if name:
                places.setdefault(name, (method_file(method), f"{title}: {name}"))
                for member in _find_members(schema, name):
                    places.setdefault(member, (method_file(method), member))
    for name, topic in find_topics(schema, topics).items():
        if name not in schema.envelopes:
            places.setdefault(name, (topic_file(topic), name))
    return places


def _find_members(schema: Schema, name: str) -> Iterator[str]:
    """Yield the members of a union, including those of nested unions."""
    definition = schema.definitions[name]
    for member in definition.members if isinstance(definition, Union) else ():
        yield member.name
        yield from _find_members(schema, member.name)
