"""Check whether one side can read every value that the other side may send.

Definitions that correspond count as equal here: changes inside them are separate findings.
"""

from __future__ import annotations

from typing import Any

from codegen.diff.match.shapes import Shape, shape_of
from codegen.ir import Alias, Definition, Field, Model, Schema, Union

_PYTHON: dict[str, type | tuple[type, ...]] = {"string": str, "integer": int, "number": (int, float), "boolean": bool}
_AT_LEAST = ("minimum", "min_length")
_AT_MOST = ("maximum", "max_length")


class Compatibility:
    """Compatibility of one schema's values with another schema.

    Args:
        sender: the schema of the side that sends.
        reader: the schema of the side that reads.
        names: the reader's name of each definition of the sender that has a counterpart.
    """

    def __init__(self, sender: Schema, reader: Schema, names: dict[str, str]) -> None:
        self._sender, self._reader, self._names = sender, reader, names
        self._assumed: set[tuple[str, str]] = set()

    def shape(self, sent: Shape, read: Shape) -> bool:
        """Return whether the reader's type accepts every value of the sender's type."""
        if read.kind == "any":
            return True
        if sent.kind == "union":
            return all(self.shape(part, read) for part in sent.parts)
        if sent.kind == "literal":
            return all(self._value(value, read) for value in sent.values)
        if read.kind == "union":
            return any(self.shape(sent, part) for part in read.parts)
        return self._refs(sent, read) if "ref" in (sent.kind, read.kind) else self._plain(sent, read)

    def _plain(self, sent: Shape, read: Shape) -> bool:
        """Compare scalars, lists and maps."""
        same = sent.kind == read.kind or (sent.kind, read.kind) == ("integer", "number")
        parts = zip(sent.parts, read.parts, strict=False)
        return same and within(sent, read) and all(self.shape(*each) for each in parts)

    def _value(self, value: Any, read: Shape) -> bool:
        if read.kind == "union":
            return any(self._value(value, part) for part in read.parts)
        if read.kind == "literal":
            return value in read.values
        if read.kind == "ref":
            alias = self._reader.definitions[read.name]
            return isinstance(alias, Alias) and self._value(value, shape_of(alias.type.annotation))
        kind = _PYTHON.get(read.kind)
        return read.kind == "any" or (kind is not None and isinstance(value, kind) and _in_limits(value, read))

    def _refs(self, sent: Shape, read: Shape) -> bool:
        if sent.kind == read.kind == "ref" and self._names.get(sent.name) == read.name:
            return True
        if sent.kind == "ref" and read.kind == "ref":
            return self.definition(self._sender.definitions[sent.name], self._reader.definitions[read.name])
        if sent.kind == "ref":
            alias = self._sender.definitions[sent.name]
            return isinstance(alias, Alias) and self.shape(shape_of(alias.type.annotation), read)
        alias = self._reader.definitions[read.name]
        return isinstance(alias, Alias) and self.shape(sent, shape_of(alias.type.annotation))

    def definition(self, sent: Definition, read: Definition) -> bool:
        """Return whether the reader's definition accepts every value of the sender's, by structure."""
        if (sent.name, read.name) in self._assumed:
            return True
        self._assumed.add((sent.name, read.name))
        try:
            return self._definitions(sent, read)
        finally:
            self._assumed.discard((sent.name, read.name))

    def _definitions(self, sent: Definition, read: Definition) -> bool:
        if isinstance(sent, Union):
            return all(self.definition(self._sender.definitions[each.name], read) for each in sent.members)
        if isinstance(read, Union):
            return any(self.definition(sent, self._reader.definitions[each.name]) for each in read.members)
        if isinstance(sent, Model) and isinstance(read, Model):
            return self._models(sent, read)
        return (
            self.shape(_as_shape(sent), _as_shape(read))
            if isinstance(sent, Alias) or isinstance(read, Alias)
            else False
        )

    def _models(self, sent: Model, read: Model) -> bool:
        fields = {field.wire: field for field in self._sender.fields(sent.name)}
        return all(self._field(fields.get(field.wire), field) for field in self._reader.fields(read.name))

    def _field(self, sent: Field | None, read: Field) -> bool:
        if sent is None or (read.required and not sent.required):
            return not read.required
        return "DefaultOnError" in read.markers or self.shape(
            *(shape_of(each.type.annotation) for each in (sent, read))
        )


def _as_shape(definition: Definition) -> Shape:
    return shape_of(definition.type.annotation) if isinstance(definition, Alias) else Shape("ref", definition.name)


def within(sent: Shape, read: Shape) -> bool:
    """Return whether the reader's limits accept everything that the sender's limits allow."""
    return all(_implied(name, sent.limit(name), value) for name, value in read.limits)


def _implied(name: str, sent: Any, read: Any) -> bool:
    if name in _AT_LEAST:
        return sent is not None and sent >= read
    if name in _AT_MOST:
        return sent is not None and sent <= read
    return bool(sent == read)


def _in_limits(value: Any, read: Shape) -> bool:
    size = len(value) if isinstance(value, str) else value
    return all(
        (name in _AT_LEAST and size >= limit) or (name in _AT_MOST and size <= limit) for name, limit in read.limits
    )
