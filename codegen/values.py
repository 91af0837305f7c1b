"""JSON values of a schema's types: whether a type has a value, as the bindings read it, and samples of its values."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from typing import Any

from codegen.escaping import python_literal
from codegen.ir import Field, Model, Schema, Union
from codegen.nodes import is_array, is_object
from codegen.types import Type

# The Python types of the JSON values of each kind.
_PYTHON: dict[str, tuple[type, ...]] = {
    "boolean": (bool,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "null": (type(None),),
    "array": (list,),
    "map": (dict,),
}
# Values to choose samples from.
_SCALARS = ("x", "/x", "", "a long text", 1, 0, -1, True, False, None, 1.5)
# In models as deep as this inside of others, samples have only the required properties; deeper ones have one sample.
_DEEP = 3
# Texts that match a pattern are made of this many different characters, and are up to this long.
_LETTERS, _LONGEST = 5, 5


def fits(schema: Schema, value: Any, kind: Type, *, strict: bool = False) -> bool:
    """Return whether a value is one of a type. Invalid values that the schema tolerates are, and unknown names.

    `strict`: neither is, as for constructors in Python.
    """
    match kind.kind:
        case "ref":
            is_fit = _fits_definition(schema, value, kind.name, strict=strict)
        case "union":
            is_fit = any(fits(schema, value, part, strict=strict) for part in kind.parts)
        case "literal":
            is_fit = python_literal(value) in kind.written_values
        case "any":
            is_fit = True
        case _:
            items = value.values() if is_object(value) else value if is_array(value) else ()
            is_fit = type(value) in _PYTHON[kind.kind] and all(_is_within(value, *limit) for limit in kind.limits)
            is_fit = is_fit and all(fits(schema, item, part, strict=strict) for item in items for part in kind.parts)
    return is_fit


def _is_within(value: Any, name: str, limit: Any) -> bool:
    if name == "pattern":
        return _matches(limit, value)
    size = len(value) if isinstance(value, str) or is_array(value) else value
    return bool(size >= limit if name in ("minimum", "min_length") else size <= limit)


def _matches(pattern: str, text: str) -> bool:
    try:
        return bool(re.search(pattern, text))
    except re.error:  # the patterns of JSON Schema have another syntax
        return False


def _fits_definition(schema: Schema, value: Any, name: str, *, strict: bool) -> bool:
    definition = schema.definitions[name]
    if isinstance(definition, Union) and definition.exclusive:
        return sum(fits(schema, value, part, strict=strict) for part in definition.type.parts) == 1
    if not isinstance(definition, Model):
        return fits(schema, value, definition.type, strict=strict)
    fields = schema.fields(name)
    if not is_object(value) or (strict and value.keys() - {field.wire for field in fields}):
        return False
    return all(
        _fits_field(schema, value[field.wire], field, strict=strict) if field.wire in value else not field.required
        for field in fields
    )


def _fits_field(schema: Schema, value: Any, field: Field, *, strict: bool = False) -> bool:
    if field.tag is not None:
        return python_literal(value) == python_literal(field.tag)
    if "NoTag" in field.markers:
        return not isinstance(value, str)
    if any(python_literal(value) in marker for marker in field.markers if marker.startswith("OtherThan")):
        return False
    tolerated = {"DefaultOnNull": value is None, "DefaultOnError": True, "SkipInvalidItems": is_array(value)}
    is_tolerated = not strict and any(tolerated.get(marker) for marker in field.markers)
    return is_tolerated or fits(schema, value, field.type, strict=strict)


def python_source(schema: Schema, value: Any, kind: Type) -> str:
    """Return the Python expression that builds a value of a type."""
    definition = schema.definitions.get(kind.name)
    if isinstance(definition, Model):
        fields = (field for field in schema.fields(definition.name) if field.wire in value and field.tag is None)
        keywords = (f"{field.name}={python_source(schema, value[field.wire], field.type)}" for field in fields)
        return f"{definition.name}({', '.join(keywords)})"
    if definition:
        return python_source(schema, value, definition.type)
    if kind.kind == "union":
        return python_source(schema, value, next(part for part in kind.parts if fits(schema, value, part)))
    items = value if is_array(value) else value.values() if is_object(value) else ()
    written = [python_source(schema, item, part) for part in kind.parts for item in items]
    if not written:
        return python_literal(value)
    keys = (f"{python_literal(key)}: " for key in value) if is_object(value) else [""] * len(written)
    inside = ", ".join(f"{key}{item}" for key, item in zip(keys, written, strict=True))
    return f"{{{inside}}}" if is_object(value) else f"[{inside}]"


class Samples:
    """Makes samples of the values of one schema's types.

    A model has one with its required properties, one with all, and one for each sample of each property. So who refuses
    some values of a type most likely refuses one of its samples.

    Args:
        schema: the schema.
        others: scalars to choose from, too: the limits and constants of the types that the samples are tried with.
    """

    def __init__(self, schema: Schema, others: Iterable[Any]) -> None:
        self._schema = schema
        self._scalars = tuple({python_literal(scalar): scalar for scalar in (*_SCALARS, *others)}.values())

    def smallest(self, kind: Type) -> Any:
        """Return a sample whose objects have only the required properties; an empty object if there is none."""
        return next(iter(self.shallow(kind, -1)), dict[str, Any]())

    def shallow(self, kind: Type, depth: int) -> list[Any]:
        """Return samples whose objects have only the required properties, except in definitions down to a depth."""
        return self.make(kind, ("",) * (_DEEP - depth - 1))

    def make(self, kind: Type, inside: tuple[str, ...] = ()) -> list[Any]:
        """Return samples of a type. `inside` are the definitions that the type is in: they aren't repeated."""
        match kind.kind:
            case "ref":
                values = self._of_definition(kind.name, inside)
            case "union":
                values = [value for part in kind.parts for value in self.make(part, inside)]
            case "literal":
                values = list(kind.values)
            case "array":
                size = max(1, kind.limit("min_length") or 0)
                values = [[], *([item] * size for item in self.make(kind.parts[0], inside))]
            case "map":
                values = [{}, *({"key": value} for value in self.make(kind.parts[0], inside))]
            case _:
                values = list(self._scalars)
        return [value for value in values if fits(self._schema, value, kind)]

    def _of_definition(self, name: str, inside: tuple[str, ...]) -> list[Any]:
        definition, inside = self._schema.definitions[name], (*inside, name)
        if name in inside[:-1]:
            return []
        return (
            self._messages(definition, inside) if isinstance(definition, Model) else self.make(definition.type, inside)
        )

    def _messages(self, model: Model, inside: tuple[str, ...]) -> list[Any]:
        fields = [field for field in self._schema.fields(model.name) if field.required or len(inside) < _DEEP]
        values = {field.wire: self._of_field(field, inside) for field in fields}
        if not all(values[field.wire] for field in fields if field.required):
            return []
        least = {field.wire: values[field.wire][0] for field in fields if field.required}
        if len(inside) > _DEEP:
            return [least]
        whole = {wire: samples[0] for wire, samples in values.items() if samples}
        return [least, whole, *({**least, wire: value} for wire, samples in values.items() for value in samples)]

    def _of_field(self, field: Field, inside: tuple[str, ...]) -> list[Any]:
        values = [field.tag] if field.tag is not None else self.make(field.type, inside)
        return [value for value in values if _fits_field(self._schema, value, field)]


def find_scalars(schema: Schema, kinds: Iterable[Type], depth: int = 1) -> Iterator[Any]:
    """Yield the constants of types and the numbers around their limits; of a model, those of its properties."""
    for kind in kinds:
        yield from kind.values
        for step in (-1, 0, 1):
            limits = {
                name: max(limit + step, 0) if name.endswith("length") else limit + step
                for name, limit in kind.limits
                if name != "pattern"
            }
            yield from ("x" * size if name.endswith("length") else size for name, size in limits.items())
        if pattern := kind.limit("pattern"):
            yield from _matching_texts(pattern)
        yield from find_scalars(schema, kind.parts, depth)
        definition = schema.definitions.get(kind.name)
        if isinstance(definition, Model) and depth:
            yield from find_scalars(schema, (field.type for field in schema.fields(kind.name)), depth - 1)
        elif definition and not isinstance(definition, Model):
            yield from find_scalars(schema, [definition.type], depth)


def _matching_texts(pattern: str) -> Iterator[str]:
    """Yield texts that match a pattern: one of each small length, made of the letters and digits in it."""
    letters = list(dict.fromkeys(re.findall(r"[^\W_]", f"a0{pattern}")))[:_LETTERS]
    for size in range(_LONGEST + 1):
        texts = map("".join, itertools.product(letters, repeat=size))
        yield from itertools.islice((text for text in texts if _matches(pattern, text)), 1)
