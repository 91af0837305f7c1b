"""What one side sends, by samples: whether the other side reads it, the smallest message that it refuses, and values as
the smallest code that no longer works.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

from codegen.diff.compare.reach import LENIENT
from codegen.ir import Definition, Method, Model, Schema
from codegen.types import Type
from codegen.values import Samples, find_scalars, fits, python_source

# Returns the JSON that contains a value.
Around = Callable[[Any], Any]


def make_samples(sender: Schema, sent: Iterable[Type], reader: Schema, read: Iterable[Type]) -> Samples:
    """Return what makes samples of the sender's types that the reader's types may refuse."""
    return Samples(sender, (*find_scalars(sender, sent), *find_scalars(reader, read)))


def accepts_all(sender: Schema, sent: Type, reader: Schema, read: Type, names: Mapping[str, str]) -> bool:
    """Return whether the reader's type accepts the values of the sender's type; not if there are no samples of them.

    Definitions that correspond by `names`, the reader's by the sender's, count as equal: changes inside them are
    separate findings.
    """
    common = {name: names[name] for name in sent.names if names.get(name) in read.names}
    sent, read = _with_tokens(sent, common), _with_tokens(read, {name: name for name in common.values()})
    shared = {*sent.limits}.intersection(read.limits)
    sent, read = _without(sent, shared), _without(read, shared)
    make = make_samples(sender, [sent], reader, [read]).make
    samples = make(sent) or make(_without(sent, [limit for limit in sent.limits if limit[0] == "pattern"]))
    return bool(samples) and all(fits(reader, value, read) for value in samples)


def _without(type_: Type, limits: Collection[tuple[str, Any]]) -> Type:
    return replace(type_, limits=tuple(limit for limit in type_.limits if limit not in limits))


def _with_tokens(type_: Type, names: Mapping[str, str]) -> Type:
    """Return a type with a constant that is no JSON, a tuple, in place of each of these definitions."""
    if type_.name in names:
        return Type("literal", values=((names[type_.name],),))
    return replace(type_, parts=tuple(_with_tokens(part, names) for part in type_.parts))


class Sender:
    """One side, which sends messages to the other one, or the code that builds them."""

    def __init__(self, schema: Schema, reader: Schema) -> None:
        self._schema, self._reader = schema, reader
        self._smallest = Samples(schema, ()).smallest
        self._refused: dict[tuple[str, str, bool], list[Any]] = {}

    def message(self, sent: Definition | None, read: Definition | None, text: str) -> str:
        """Return the JSON of the smallest message with a definition that the other side refuses; empty if none is.

        Args:
            sent: the definition.
            read: what the other side reads it as.
            text: what its value should have in it, if that is refused.
        """
        values = self._smallest_refused(sent, read, text, strict=False) if sent and read else []
        return "".join(json.dumps(self._messages.get(sent.name, _itself)(value)) for value in values if sent)

    def call(self, method: Method | None) -> str:
        """Return the JSON of the smallest message that calls a method; empty if there is none."""
        params = self._smallest(Type("ref", method.params)) if method else None
        return json.dumps({"method": method.wire, "params": params}) if method else ""

    def code(self, sent: Definition, read: Definition, text: str) -> list[str]:
        """Return the smallest code that builds a definition in a way that the other side's bindings refuse."""
        values = self._smallest_refused(sent, read, text, strict=True)
        start = "" if isinstance(sent, Model) else f"value: {sent.name} = "
        return [f"{start}{python_source(self._schema, value, Type('ref', sent.name))}" for value in values]

    def _smallest_refused(self, sent: Definition, read: Definition, text: str, *, strict: bool) -> list[Any]:
        """Return the smallest value that is refused, by a constructor in Python if it is strict; none if none is."""

        def size(value: Any) -> tuple[bool, int]:
            written = json.dumps(value)
            return bool(text) and json.dumps(text) not in written, len(written)

        key = sent.name, read.name, strict
        if key not in self._refused:
            own, other = Type("ref", sent.name), Type("ref", read.name)
            made = make_samples(self._schema, [own], self._reader, [other]).shallow(own, 1)
            self._refused[key] = [value for value in made if not fits(self._reader, value, other, strict=strict)]
        return sorted(self._refused[key], key=size)[:1]

    @cached_property
    def _messages(self) -> dict[str, Around]:
        """For each definition, what a message is around it. It is refused if the definition's value is."""
        messages: dict[str, Around] = {}
        queue: list[tuple[str, Around]] = []
        for method in self._schema.methods:
            queue.append((method.params, _property(_itself, {"method": method.wire}, "params")))
            queue += [(method.result, _property(_itself, {}, "result"))] if method.result else []
        for name, around in queue:  # breadth first
            if name not in messages:
                messages[name] = around
                queue += self._inside(self._schema.definitions[name], around)
        return messages

    def _inside(self, definition: Definition, around: Around) -> Iterator[tuple[str, Around]]:
        if not isinstance(definition, Model):
            yield from ((name, _within(definition.type, name, around)) for name in definition.type.names)
            return
        own = self._smallest(Type("ref", definition.name))
        if definition.base:
            yield definition.base, lambda value: around(own | value)
        for field in definition.fields:
            for name in () if LENIENT.intersection(field.markers) else field.type.names:
                yield name, _within(field.type, name, _property(around, own, field.wire))


def _itself(value: Any) -> Any:
    return value


def _property(around: Around, others: dict[str, Any], key: str) -> Around:
    return lambda value: around({**others, key: value})


def _within(type_: Type, name: str, around: Around) -> Around:
    """Return what is around a definition that a type refers to."""
    if type_.kind == "ref":
        return around
    part = next(part for part in type_.parts if name in part.names)
    if type_.kind == "array":
        return _within(part, name, lambda value: around([value]))
    return _within(part, name, _property(around, {}, "key") if type_.kind == "map" else around)
