"""Values that one side may send, and the smallest message that the other side refuses."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

from codegen.diff.compare.compatibility import Compatibility
from codegen.diff.compare.reach import LENIENT
from codegen.ir import Alias, Definition, Field, Model, Schema
from codegen.types import Type
from codegen.values import FORMATS, Example, Object, as_json

# Returns the JSON that contains a value.
Around = Callable[[Any], Any]
_OTHERS: dict[str, tuple[Example, ...]] = {"boolean": (True, False), "null": (None,), "any": ({}, 1, "text", None)}


class Samples:
    """The values that the side with a schema may send."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema

    def refused(self, sent: Definition, read: Definition, reader: Compatibility, text: str = "") -> list[Example]:
        """Return the smallest value of a definition that a reader refuses, with a text if possible; or no value."""

        def size(value: Example) -> tuple[bool, int]:
            written = json.dumps(as_json(value))
            return bool(text) and json.dumps(text) not in written, len(written)

        return sorted((each for each in self.of(sent) if not reader.accepts(read, as_json(each))), key=size)[:1]

    def of(self, definition: Definition) -> Iterator[Example]:
        """Yield values of a definition. Objects have their required properties, and at most one more."""
        if not isinstance(definition, Model):
            yield from self._of_type(definition.type, definition.name)
            return
        smallest = self.smallest(definition.name)
        yield smallest
        for field in self._schema.fields(definition.name):
            others = tuple(each for each in smallest.fields if each[0] != field)
            yield from (Object(definition.name, (*others, (field, value))) for value in self._of_field(field))

    def smallest(self, name: str) -> Object:
        """Return an object without optional properties, of the first model that a definition stands for."""
        name = next(self._schema.concrete_models(name)).name
        required = (each for each in self._schema.fields(name) if each.required)
        return Object(name, tuple((each, next(self._of_field(each))) for each in required))

    def _of_field(self, field: Field) -> Iterator[Example]:
        yield from self._of_type(field.type, field.wire) if field.tag is None else [field.tag]

    def _of_type(self, found: Type, key: str) -> Iterator[Example]:
        limits = dict(found.limits)
        match found.kind:
            case "union":
                yield from (value for part in found.parts for value in self._of_type(part, key))
            case "ref":
                definition = self._schema.definitions[found.name]
                yield from self._of_type(definition.type, key) if isinstance(definition, Alias) else ()
                yield from (self.smallest(each.name) for each in self._schema.concrete_models(found.name))
            case "literal":
                yield from found.values
            case "integer" | "number":
                least, most = limits.get("minimum", -1), limits.get("maximum", 1)
                yield from (max(least, min(most, 1)), least, most, *[least + 0.5] * (found.kind == "number"))
            case "string" if "format" in limits:
                yield FORMATS[limits["format"]]
            case "string":
                sizes = limits.get("min_length", 0), limits.get("max_length", len(key))
                yield from dict.fromkeys((key[: sizes[1]].ljust(sizes[0], "x"), "x" * sizes[0], "x" * sizes[1]))
            case "array":
                sizes = limits.get("min_length", 0), limits.get("max_length", 1)
                items = list(self._of_type(found.parts[0], key)) if sizes[1] else []
                yield from ([each] * size for size in sizes for each in items or [None])
            case "map":
                yield from ({}, *({key: each} for each in self._of_type(found.parts[0], key)))
            case kind:
                yield from _OTHERS[kind]

    def message(self, definition: Definition, value: Example) -> str:
        """Return the JSON of the smallest message with a value of a definition."""
        return json.dumps(self._messages.get(definition.name, _itself)(as_json(value)))

    @cached_property
    def _messages(self) -> dict[str, Around]:
        """For each definition, what a message is around it. It is refused if the definition's value is."""
        found: dict[str, Around] = {}
        for method in self._schema.methods:
            self._search(found, method.params, _property(_itself, {"method": method.wire}, "params"))
            if method.result:
                self._search(found, method.result, _property(_itself, {}, "result"))
        return found

    def _search(self, found: dict[str, Around], start: str, around: Around) -> None:
        """Search breadth first."""
        queue = [(start, around)]
        for name, outside in queue:
            if name not in found:
                found[name] = outside
                queue += self._inside(self._schema.definitions[name], outside)

    def _inside(self, definition: Definition, around: Around) -> Iterator[tuple[str, Around]]:
        if not isinstance(definition, Model):
            yield from ((name, _within(definition.type, name, around)) for name in definition.type.names)
            return
        own = as_json(self.smallest(definition.name))
        if definition.base:
            yield definition.base, lambda value: around(own | value)
        for field in definition.fields:
            for name in () if LENIENT.intersection(field.markers) else field.type.names:
                yield name, _within(field.type, name, _property(around, own, field.wire))


def _itself(value: Any) -> Any:
    return value


def _property(around: Around, others: dict[str, Any], key: str) -> Around:
    return lambda value: around({**others, key: value})


def _within(found: Type, name: str, around: Around) -> Around:
    """Return what is around a definition that a type refers to."""
    if found.kind == "ref":
        return around
    part = next(each for each in found.parts if name in each.names)
    inside = {"array": lambda value: around([value]), "map": _property(around, {}, "key")}.get(found.kind, around)
    return _within(part, name, inside)
