"""Decides which page each type is on.

The params and the result of a method are on the method's page, with the members if they are unions. Every other type
is on one of the pages about types.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from codegen.diff.compare.shapes import shape_of
from codegen.ir import Alias, Method, Model, Schema, Union
from codegen.reference.choices import TypePage


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


def find_places(schema: Schema, pages: tuple[TypePage, ...]) -> dict[str, Place]:
    """Return the place of every public type, in the order of the pages."""
    places: dict[str, Place] = {}
    for method in schema.methods:
        for title, name in (("Params", method.params), ("Result", method.result)):
            if name:
                places.setdefault(name, Place(method_file(method), f"{title}: {name}"))
                for member in members(schema, name):
                    places.setdefault(member, Place(method_file(method), member))
    chosen = {name: page.file for page in pages for name in page.types}
    for page in pages:
        for name in _reached(schema, page.types):
            if chosen.get(name, page.file) == page.file:
                places.setdefault(name, Place(page.file, name))
    for name in schema.definitions:
        if name not in schema.envelopes:
            places.setdefault(name, Place(pages[-1].file, name))
    return places


def members(schema: Schema, name: str) -> Iterator[str]:
    """Yield the members of a union, those of unions in it included."""
    found = schema.definitions[name]
    if isinstance(found, Union):
        for member in found.members:
            yield member.name
            yield from members(schema, member.name)


def mentioned(schema: Schema, name: str) -> Iterator[str]:
    """Yield the types that a type consists of: of its fields, its members, its base."""
    found = schema.definitions[name]
    if isinstance(found, Union):
        yield from (member.name for member in found.members)
    elif isinstance(found, Alias):
        yield from shape_of(found.type.annotation).names()
    else:
        yield from _of_model(found)


def _of_model(model: Model) -> Iterator[str]:
    if model.base:
        yield model.base
    for field in model.fields:
        yield from shape_of(field.type.annotation).names()


def _reached(schema: Schema, names: Iterable[str]) -> list[str]:
    """Return the types that these types consist of, each before its parts."""
    found: dict[str, None] = {}
    waiting = [name for name in reversed(list(names)) if name in schema.definitions]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = None
            waiting += reversed(list(mentioned(schema, name)))
    return list(found)
