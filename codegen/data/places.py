"""Finds the places in messages: everything that the params or the result of a method can hold.

A place is a path of properties and tags, as in `update.tool_call.locations.path`. Arrays and maps have no step. The
step of a union's member is its tag; the member for unlisted tags has `*`, and a member without a tag has no step. If
the params themselves are a union, the step of a member has the name of the tag's property before it: `mode.url`.

`methods.toml` names a place from any definition on the way: `ToolCallLocation.path` is the same property in all
messages, `PromptRequest.prompt.image` only the one in `session/prompt`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from acp_runtime.models.json_values import wire_name
from codegen.ir import Alias, Field, Member, Model, Schema, Union
from codegen.types import Type

# The step of a union's member for the tags that the union doesn't list.
UNLISTED = "*"


@dataclass(frozen=True)
class Place:
    """A place in a message.

    Attributes:
        path: its steps from the message's params or result.
        keys: its names in `methods.toml`: a definition, followed by the steps from it.
        texts: the schema's descriptions of its content.
        is_text: whether it holds a string, or strings.
    """

    path: tuple[str, ...]
    keys: tuple[str, ...]
    texts: tuple[str, ...] = ()
    is_text: bool = False

    def enter(self, step: str) -> Place:
        return Place((*self.path, step), tuple(f"{key}.{step}" for key in self.keys))

    def describe(self, names: tuple[str, ...], texts: tuple[str, ...], *, is_text: bool = False) -> Place:
        """Return the place with the names and the descriptions of its content's definition."""
        return replace(self, keys=(*self.keys, *names), texts=tuple(filter(None, texts)), is_text=is_text)


class Places:
    """The places in the messages of a schema."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._by_definition: dict[str, list[Place]] = {}

    def find(self, name: str) -> list[Place]:
        """Return the places in a message with this definition as its params or result."""
        if name not in self._by_definition:
            root = Place((), self._find_names(name))
            self._by_definition[name] = (
                list(self._find_in_message(name, root)) if name in self._schema.definitions else []
            )
        return self._by_definition[name]

    def _find_in_message(self, name: str, root: Place) -> Iterator[Place]:
        definition = self._schema.definitions[name]
        if isinstance(definition, Model):
            yield from self._find_in_model(name, root, {name})
        elif isinstance(definition, Union):
            for member in definition.members:
                inside = root
                if definition.tag and (step := self._find_step(member, definition)):
                    inside = self._enter_member(root, member, step)
                    yield replace(inside, path=(wire_name(definition.tag), step))
                yield from self._find_in_message(member.name, replace(inside, path=()))
        else:
            yield from self._find_in_type(definition.type, root, {name})

    def _find_in_model(self, name: str, place: Place, around: set[str]) -> Iterator[Place]:
        for field in self._schema.fields(name):
            if field.tag is None and field.wire != "_meta":
                yield from self._find_at_field(field, place, around)

    def _find_at_field(self, field: Field, place: Place, around: set[str]) -> Iterator[Place]:
        names = tuple(name for used in field.type.names for name in self._find_names(used))
        docs = tuple(doc for used in field.type.names for doc in self._find_docs(used))
        here = place.enter(field.wire).describe(names, (field.doc, *docs), is_text=self._is_text(field.type))
        yield here
        yield from self._find_in_type(field.type, here, around)

    def _find_in_type(self, type_: Type, place: Place, around: set[str]) -> Iterator[Place]:
        yield from (place.enter(value) for value in type_.values if isinstance(value, str))
        for part in type_.parts:
            yield from self._find_in_type(part, place, around)
        definition = self._schema.definitions.get(type_.name)
        if definition is None or definition.name in around:
            return
        around = {*around, definition.name}
        if isinstance(definition, Alias):
            yield from self._find_in_type(definition.type, place, around)
        elif isinstance(definition, Union):
            yield from self._find_in_union(definition, place, around)
        else:
            yield from self._find_in_tagged_model(definition.name, place, frozenset(), around)

    def _find_in_union(
        self, union: Union, place: Place, around: set[str], tags: frozenset[str] = frozenset()
    ) -> Iterator[Place]:
        for member in union.members:
            inside = place
            if step := self._find_step(member, union):
                inside = self._enter_member(place, member, step)
                yield inside
            definition = self._schema.definitions[member.name]
            known = tags | {member.tag} if member.tag else tags
            if isinstance(definition, Union):
                yield from self._find_in_union(definition, inside, around, known)
            else:
                yield from self._find_in_tagged_model(member.name, inside, known, around)

    def _find_in_tagged_model(self, name: str, place: Place, tags: frozenset[str], around: set[str]) -> Iterator[Place]:
        """Yield the places in a model, behind a step for each of its tags that no union has."""
        for field in self._schema.fields(name):
            if field.tag is not None and field.tag not in tags:
                place = place.enter(field.tag)
        yield from self._find_in_model(name, place, around)

    def _enter_member(self, place: Place, member: Member, step: str) -> Place:
        docs = (member.doc, *self._find_docs(member.name))
        return place.enter(step).describe(self._find_names(member.name), docs)

    def _find_step(self, member: Member, union: Union) -> str:
        """Return the step of a union's member; empty if it has no tag."""
        fields = (self._schema.fields(model.name) for model in self._schema.concrete_models(member.name))
        is_other = all(any(field.name == union.tag and field.is_other_tag for field in of_model) for of_model in fields)
        return member.tag or (UNLISTED if is_other else "")

    def _find_names(self, name: str) -> tuple[str, ...]:
        """Return the names of a definition: its own, and the names of its bases or of the definitions in its type."""
        definition = self._schema.definitions.get(name)
        if isinstance(definition, Model):
            return (name, *self._schema.bases(name))
        if isinstance(definition, Alias):
            return (name, *(other for used in definition.type.names for other in self._find_names(used)))
        return (name,)

    def _find_docs(self, name: str) -> tuple[str, ...]:
        """Return the descriptions of a definition, except those of enums, which are about their values."""
        definitions = (
            self._schema.definitions[used] for used in self._find_names(name) if used in self._schema.definitions
        )
        return tuple(
            definition.doc
            for definition in definitions
            if not (isinstance(definition, Alias) and definition.type.enum is not None)
        )

    def _is_text(self, type_: Type) -> bool:
        definition = self._schema.definitions.get(type_.name)
        if isinstance(definition, Alias):
            return self._is_text(definition.type)
        if type_.kind == "string":
            return True
        parts = [part for part in type_.parts if part.kind != "null"]
        return bool(parts) and all(self._is_text(part) for part in parts)
