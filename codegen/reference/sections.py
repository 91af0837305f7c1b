"""Makes the sections about types. `templates/section.md.jinja` renders them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from codegen.ir import Definition, Field, Model, Schema
from codegen.reference.blocks import Blocks
from codegen.reference.examples import META, Examples
from codegen.reference.places import Place
from codegen.reference.texts import TypeTexts, description
from codegen.reference.written import json_text
from codegen.values import as_json

_MANY = 8


@dataclass(frozen=True)
class Section:
    """A section about a type.

    Attributes:
        type: the type.
        heading: its heading.
        doc: upstream's description.
        used_by: links to the types that it is a part of, unless they are many.
        example: JSON.
        python: how a member of a union is made.
        texts: writes types.
    """

    type: Definition
    heading: str
    doc: str
    used_by: tuple[str, ...]
    example: str
    python: str
    texts: TypeTexts

    @property
    def kind(self) -> str:
        return self.type.__class__.__name__.lower()

    @property
    def properties(self) -> list[Field]:
        """The fields that a model describes itself."""
        fields = self.type.fields if isinstance(self.type, Model) else ()
        return [each for each in fields if each.wire != META and each.tag is None]


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
                users = tuple(map(self._texts.link, self._users.get(name, ())))
                yield Section(
                    type=self._schema.definitions[name],
                    heading=place.heading,
                    doc=self._doc(self._schema.definitions[name]),
                    used_by=users if len(users) <= _MANY else (),
                    example=json_text(as_json(self._examples.of(name))),
                    python=self._blocks.member(name),
                    texts=self._texts,
                )

    def _doc(self, found: Definition) -> str:
        """Return a description; empty if a model has that of its base."""
        base = self._schema.definitions[found.base] if isinstance(found, Model) and found.base else None
        return "" if base and base.doc == found.doc else description(found.doc)
