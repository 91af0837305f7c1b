"""Check whether one side can read every value that the other side may send.

Definitions that correspond count as equal here: changes inside them are separate findings.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from codegen.escaping import quoted
from codegen.ir import Alias, Definition, Field, Model, Schema
from codegen.nodes import is_array, is_object
from codegen.types import Type, union_of
from codegen.values import FORMATS

_PYTHON: dict[str, type | tuple[type, ...]] = {
    **{"string": str, "integer": int, "number": (int, float), "boolean": bool, "null": type(None)},
    **{"array": list, "map": dict, "any": object},
}
_AT_LEAST = ("minimum", "min_length")
_AT_MOST = ("maximum", "max_length")


class Compatibility:
    """Compatibility of one schema's values with another schema.

    Args:
        sender: the schema of the side that sends.
        reader: the schema of the side that reads.
        names: the reader's name of each definition of the sender that has a counterpart.
        strict: whether the reader is a constructor in Python, which tolerates neither invalid values nor unknown names.
    """

    def __init__(self, sender: Schema, reader: Schema, names: dict[str, str], *, strict: bool = False) -> None:
        self._sender, self._reader, self._names, self._strict = sender, reader, names, strict
        self._assumed: set[tuple[str, str]] = set()

    def shape(self, sent: Type, read: Type) -> bool:
        """Return whether the reader's type accepts every value of the sender's type."""
        if sent.kind == read.kind == "ref" and self._names.get(sent.name) == read.name:
            return True
        sent, read = _meant(self._sender, sent), _meant(self._reader, read)
        if sent.kind == "union":
            return all(self.shape(part, read) for part in sent.parts)
        if sent.kind == "literal":
            return all(self._accepts(read, value) for value in sent.values)
        if read.kind == "union":
            return any(self.shape(sent, part) for part in read.parts)
        if sent.kind == read.kind == "ref":
            return self.definition(self._sender.definitions[sent.name], self._reader.definitions[read.name])
        return read.kind == "any" or self._plain(sent, read)

    def accepts(self, read: Definition, value: Any) -> bool:
        """Return whether the reader's definition accepts a JSON value."""
        return self._accepts(_as_type(read), value)

    def _accepts(self, read: Type, value: Any) -> bool:
        """Return whether the reader's type accepts a JSON value."""
        read = _meant(self._reader, read)
        if read.kind == "union":
            return any(self._accepts(part, value) for part in read.parts)
        if read.kind == "literal":
            return any(value == each and type(value) is type(each) for each in read.values)
        if read.kind == "ref":
            return is_object(value) and self._accepts_object(read.name, value)
        items = value.values() if is_object(value) else value if is_array(value) else ()
        is_boolean = isinstance(value, bool) and read.kind != "boolean"
        fits = isinstance(value, _PYTHON[read.kind]) and not is_boolean and _in_limits(value, read)
        return read.kind == "any" or (fits and all(self._accepts(part, each) for part in read.parts for each in items))

    def _accepts_object(self, name: str, value: dict[str, Any]) -> bool:
        fields = self._reader.fields(name)
        is_known = not self._strict or value.keys() <= {each.wire for each in fields}
        return is_known and all(
            self._has(value[each.wire], each) if each.wire in value else not each.required for each in fields
        )

    def _has(self, value: Any, field: Field) -> bool:
        """Return whether the reader accepts the value of a property."""
        others = next((each for each in field.markers if each.startswith("OtherThan")), "")
        if field.tag is not None or others:
            return value == field.tag if field.tag is not None else quoted(value) not in others
        is_lenient = "DefaultOnError" in field.markers or (value is None and "DefaultOnNull" in field.markers)
        is_list = "SkipInvalidItems" in field.markers and is_array(value)
        return (not self._strict and (is_lenient or is_list)) or self._accepts(field.type, value)

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


def _in_limits(value: Any, read: Type) -> bool:
    size = value if isinstance(value, int | float) else len(value) if read.limits else 0
    return all(
        (name in _AT_LEAST and size >= limit)
        or (name in _AT_MOST and size <= limit)
        or (name == "format" and value == FORMATS.get(limit))
        for name, limit in read.limits
    )
