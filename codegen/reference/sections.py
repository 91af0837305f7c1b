"""Makes the sections about types."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from acp_runtime.models.names import wire_name
from codegen.diff.match.shapes import shape_of
from codegen.ir import Alias, Definition, Field, Model, Schema, Union
from codegen.reference.blocks import Blocks
from codegen.reference.examples import META, Examples
from codegen.reference.places import Place
from codegen.reference.texts import TypeTexts, description, presence
from codegen.reference.written import as_json, json_text

_MANY = 8


@dataclass(frozen=True)
class Property:
    """A field as it is described: its names, its type in words, whether it is required, upstream's description."""

    wire: str
    name: str
    type: str
    presence: str
    doc: str


@dataclass(frozen=True)
class Section:
    """A section about a type.

    Attributes:
        name: the type.
        heading: its heading.
        doc: upstream's description.
        kind: `model`, `union` or `alias`.
        type: what an alias stands for, as sentences.
        base: a link to the type that has the other fields of a model.
        tag: of a union, the property that tells its members apart; of a member, that property and its value, as JSON.
        properties: the fields of a model.
        members: the members of a union: the value of the tag, and a link.
        is_open: whether a model keeps properties that the schema doesn't have.
        used_by: links to the types that it is a part of, unless they are many.
        example: JSON.
        python: how a member of a union is made.
    """

    name: str
    heading: str
    doc: str
    kind: str
    type: str = ""
    base: str = ""
    tag: str = ""
    properties: tuple[Property, ...] = ()
    members: tuple[tuple[str, str], ...] = ()
    is_open: bool = False
    used_by: tuple[str, ...] = ()
    example: str = ""
    python: str = ""


class Sections:
    """Makes the sections of one schema."""

    def __init__(self, schema: Schema, places: dict[str, Place], examples: Examples, blocks: Blocks) -> None:
        self._schema = schema
        self._places = places
        self._examples = examples
        self._blocks = blocks
        self._texts = TypeTexts(places)
        self._users: dict[str, dict[str, None]] = {}
        for user in places:
            for name in schema.uses(user):
                self._users.setdefault(name, {})[user] = None

    def on(self, file: str) -> Iterator[Section]:
        """Yield the sections of a page."""
        for name, place in self._places.items():
            if place.file == file:
                yield self.of(name)

    def of(self, name: str) -> Section:
        """Return the section about a type."""
        found = self._schema.definitions[name]
        example = json_text(as_json(self._examples.of(name)))
        common: dict[str, Any] = {"name": name, "heading": self._places[name].heading, "example": example}
        common["doc"] = description(self._doc(found))
        users = self._users.get(name, {})
        common["used_by"] = tuple(map(self._texts.link, users)) if len(users) <= _MANY else ()
        if isinstance(found, Alias):
            values = self._texts.of_alias(shape_of(found.type.annotation), common["doc"])
            return Section(**common, kind="alias", type=values)
        if isinstance(found, Union):
            members = tuple((each.tag or "", self._texts.link(each.name)) for each in found.members)
            return Section(**common, kind="union", tag=wire_name(found.tag) if found.tag else "", members=members)
        return Section(
            **common,
            kind="model",
            python=self._blocks.member(name),
            is_open=found.is_open,
            base=self._texts.link(found.base) if found.base else "",
            tag=next((f'"{each.wire}": "{each.tag}"' for each in found.fields if each.tag is not None), ""),
            properties=tuple(self._property(each) for each in found.fields if each.wire != META and each.tag is None),
        )

    def _doc(self, found: Definition) -> str:
        """Return a description; empty if a model has that of its base."""
        base = self._schema.definitions[found.base] if isinstance(found, Model) and found.base else None
        return "" if base and base.doc == found.doc else found.doc

    def _property(self, field: Field) -> Property:
        type_text = self._texts.of(shape_of(field.type.annotation))
        return Property(field.wire, field.name, type_text, presence(field), description(field.doc))
