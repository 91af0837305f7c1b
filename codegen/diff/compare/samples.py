"""Finds the smallest messages, and the smallest code, that one side accepts and the other refuses. Uses samples."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

from codegen.diff.compare.reach import LENIENT
from codegen.ir import Definition, Method, Model, Schema, Union
from codegen.types import Type
from codegen.values import Samples, find_boundary_values, fits, python_source

# Embeds a value in a message, or in a part of it.
Embed = Callable[[Any], Any]


def make_samples(sender: Schema, sent: Iterable[Type], reader: Schema, read: Iterable[Type]) -> Samples:
    """Return a maker of samples of the sender's types that the reader's types may refuse."""
    return Samples(sender, (*find_boundary_values(sender, sent), *find_boundary_values(reader, read)))


def accepts_all(sender: Schema, sent: Type, reader: Schema, read: Type, names: Mapping[str, str]) -> bool:
    """Return whether the reader's type accepts all samples of the sender's type. Without samples, it doesn't.

    Definitions that match by `names`, the reader's by the sender's, count as equal: their changes are findings of their
    own.
    """
    common = {name: names[name] for name in sent.names if names.get(name) in read.names}
    sent, read = _replace_by_tokens(sent, common), _replace_by_tokens(read, {name: name for name in common.values()})
    shared = {*sent.limits}.intersection(read.limits)
    sent, read = _drop_limits(sent, shared), _drop_limits(read, shared)
    make = make_samples(sender, [sent], reader, [read]).make
    samples = make(sent) or make(_drop_limits(sent, [limit for limit in sent.limits if limit[0] == "pattern"]))
    return bool(samples) and all(fits(reader, value, read) for value in samples)


def _drop_limits(type_: Type, limits: Collection[tuple[str, Any]]) -> Type:
    return replace(type_, limits=tuple(limit for limit in type_.limits if limit not in limits))


def _replace_by_tokens(type_: Type, names: Mapping[str, str]) -> Type:
    """Return a type with a constant instead of each of these definitions. It is a tuple, so it equals no JSON."""
    if type_.name in names:
        return Type("literal", values=((names[type_.name],),))
    return replace(type_, parts=tuple(_replace_by_tokens(part, names) for part in type_.parts))


class Sender:
    """Finds messages of one side, and code that builds them, which the other side refuses."""

    def __init__(self, schema: Schema, reader: Schema) -> None:
        self._schema = schema
        self._reader = reader
        self._make_smallest = Samples(schema, ()).make_smallest
        self._refused: dict[tuple[str, str, bool], list[Any]] = {}

    def find_message(self, sent: Definition | None, read: Definition | None, text: str) -> str:
        """Return the JSON of the smallest message with a definition that the other side refuses; empty if none is.

        Args:
            sent: the definition.
            read: the other side's definition.
            text: a text that the definition's value should contain, if such a value is refused.
        """
        if sent is None or read is None:
            return ""
        embed = self._embeddings.get(sent.name, _return_value)
        return "".join(
            json.dumps(embed(value)) for value in self._find_smallest_refused(sent, read, text, strict=False)
        )

    def write_call(self, method: Method | None) -> str:
        """Return the JSON of the smallest message that calls a method; empty without a method."""
        if method is None:
            return ""
        return json.dumps({"method": method.wire, "params": self._make_smallest(Type("ref", method.params))})

    def find_code(self, sent: Definition, read: Definition, text: str) -> list[str]:
        """Return the smallest code that builds a value that the other side's bindings refuse."""
        values = self._find_smallest_refused(sent, read, text, strict=True)
        start = "" if isinstance(sent, Model) else f"value: {sent.name} = "
        return [f"{start}{python_source(self._schema, value, Type('ref', sent.name))}" for value in values]

    def _find_smallest_refused(self, sent: Definition, read: Definition, text: str, *, strict: bool) -> list[Any]:
        """Return a list with the smallest refused value; empty if there is none. `strict`: constructors refuse it."""

        def size(value: Any) -> tuple[bool, int]:
            line = json.dumps(value)
            return bool(text) and json.dumps(text) not in line, len(line)

        key = sent.name, read.name, strict
        if key not in self._refused:
            sent_type, read_type = Type("ref", sent.name), Type("ref", read.name)
            samples = make_samples(self._schema, [sent_type], self._reader, [read_type]).make_shallow(sent_type, 1)
            self._refused[key] = [value for value in samples if not fits(self._reader, value, read_type, strict=strict)]
        return sorted(self._refused[key], key=size)[:1]

    @cached_property
    def _embeddings(self) -> dict[str, Embed]:
        """For each definition, a function that embeds its value in a message, on a path without lenient properties."""
        embeddings: dict[str, Embed] = {}
        queue: list[tuple[str, Embed]] = []
        for method in self._schema.methods:
            queue.append((method.params, _embed_as_property(_return_value, {"method": method.wire}, "params")))
            if method.result:
                queue.append((method.result, _embed_as_property(_return_value, {}, "result")))
        for name, embed in queue:  # breadth first
            if name not in embeddings:
                embeddings[name] = embed
                queue += self._embed_inside(self._schema.definitions[name], embed)
        return embeddings

    def _embed_inside(self, definition: Definition, embed: Embed) -> Iterator[tuple[str, Embed]]:
        """Yield the definitions that a definition refers to, with functions that embed their values."""
        if not isinstance(definition, Model):
            yield from ((name, _embed_in_type(definition.type, name, embed)) for name in definition.type.names)
            if isinstance(definition, Union) and definition.base:
                model = next(self._schema.concrete_models(definition.name))
                own = {field.wire for field in model.fields}
                added = {
                    key: value for key, value in self._make_smallest(Type("ref", model.name)).items() if key in own
                }
                yield definition.base, lambda value: embed(value | added)
            return
        smallest = self._make_smallest(Type("ref", definition.name))
        if definition.base:
            yield definition.base, lambda value: embed(smallest | value)
        for field in definition.fields:
            if not LENIENT.intersection(field.markers):
                for name in field.type.names:
                    yield name, _embed_in_type(field.type, name, _embed_as_property(embed, smallest, field.wire))


def _return_value(value: Any) -> Any:
    return value


def _embed_as_property(embed: Embed, others: dict[str, Any], key: str) -> Embed:
    return lambda value: embed({**others, key: value})


def _embed_in_type(type_: Type, name: str, embed: Embed) -> Embed:
    """Return a function that embeds a definition's value in a value of a type that refers to the definition."""
    if type_.kind == "ref":
        return embed
    part = next(part for part in type_.parts if name in part.names)
    if type_.kind == "array":
        return _embed_in_type(part, name, lambda value: embed([value]))
    return _embed_in_type(part, name, _embed_as_property(embed, {}, "key") if type_.kind == "map" else embed)
