"""Check whether one side can read every value that the other side may send.

Definitions that correspond count as equal here: changes inside them are separate findings.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from codegen.ir import Alias, Definition, Field, Model, Schema
from codegen.types import Type, union_of
from codegen.values import fits

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

    def shape(self, sent: Type, read: Type) -> bool:
        """Return whether the reader's type accepts every value of the sender's type."""
        if sent.kind == read.kind == "ref" and self._names.get(sent.name) == read.name:
            return True
        sent, read = _meant(self._sender, sent), _meant(self._reader, read)
        if sent.kind == "union":
            return all(self.shape(part, read) for part in sent.parts)
        if sent.kind == "literal":
            return all(fits(self._reader, value, read) for value in sent.values)
        if read.kind == "union":
            return any(self.shape(sent, part) for part in read.parts)
        if sent.kind == read.kind == "ref":
            return self.definition(self._sender.definitions[sent.name], self._reader.definitions[read.name])
        return read.kind == "any" or self._plain(sent, read)

    def _plain(self, sent: Type, read: Type) -> bool:
        """Compare scalars, lists and maps."""
        same = sent.kind == read.kind or (sent.kind, read.kind) == ("integer", "number")
        parts = zip(sent.parts, read.parts, strict=False)
        return same and within(sent, read) and all(self.shape(*each) for each in parts)

    def definition(self, sent: Definition, read: Definition) -> bool:
        """Return whether the reader's definition accepts every value of the sender's, by structure."""
        if (sent.name, read.name) in self._assumed:
            return True
        self._assumed.add((sent.name, read.name))
        try:
            if isinstance(sent, Model) and isinstance(read, Model):
                return self._models(sent, read)
            return self.shape(_as_type(sent), _as_type(read))
        finally:
            self._assumed.discard((sent.name, read.name))

    def _models(self, sent: Model, read: Model) -> bool:
        fields = {field.wire: field for field in self._sender.fields(sent.name)}
        return all(self._field(fields.get(field.wire), field) for field in self._reader.fields(read.name))

    def _field(self, sent: Field | None, read: Field) -> bool:
        if sent is None or (read.required and not sent.required):
            return not read.required
        return "DefaultOnError" in read.markers or self.shape(sent.type, read.type)


def _as_type(definition: Definition) -> Type:
    return Type("ref", definition.name) if isinstance(definition, Model) else definition.type


def _meant(schema: Schema, found: Type) -> Type:
    """Return the type that a type is another name of, if it is the name of a union or an alias."""
    definition = schema.definitions.get(found.name)
    return found if definition is None or isinstance(definition, Model) else _meant(schema, definition.type)


def without_aliases(schema: Schema, found: Type, kept: Collection[str]) -> Type:
    """Return a type without the names of aliases, which mean nothing to JSON or a type checker, except those kept."""
    definition = schema.definitions.get(found.name)
    if isinstance(definition, Alias) and found.name not in kept:
        return without_aliases(schema, definition.type, {*kept, found.name})  # it may contain itself
    parts = [without_aliases(schema, part, kept) for part in found.parts]
    return union_of(parts) if found.kind == "union" else replace(found, parts=tuple(parts))


def within(sent: Type, read: Type) -> bool:
    """Return whether the reader's limits accept everything that the sender's limits allow."""
    return all(_implied(name, sent.limit(name), value) for name, value in read.limits)


def _implied(name: str, sent: Any, read: Any) -> bool:
    if name in _AT_LEAST:
        return sent is not None and sent >= read
    if name in _AT_MOST:
        return sent is not None and sent <= read
    return bool(sent == read)
