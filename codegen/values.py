"""JSON values of a schema's types: whether the bindings accept a value, its Python source, and samples of a type."""

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
# Inside this many definitions, samples of a model have only the required properties. Deeper, there is only one sample.
_MAX_DEPTH = 3
# Texts for a pattern have at most this many different characters, and are at most this long.
_LETTERS = 5
_MAX_LENGTH = 5


def fits(schema: Schema, value: Any, type_: Type, *, strict: bool = False) -> bool:
    """Return whether the bindings accept a value for a type.

    Parsing accepts unknown properties, and the invalid values that the schema tolerates. With `strict`, neither is
    accepted, as in Python constructors.
    """
    match type_.kind:
        case "ref":
            is_fit = _fits_definition(schema, value, type_.name, strict=strict)
        case "union":
            is_fit = any(fits(schema, value, part, strict=strict) for part in type_.parts)
        case "literal":
            is_fit = python_literal(value) in type_.written_values
        case "any":
            is_fit = True
        case _:
            is_fit = (
                type(value) in _PYTHON[type_.kind]
                and all(_is_within(value, name, limit) for name, limit in type_.limits)
                and all(fits(schema, item, part, strict=strict) for item in _list_items(value) for part in type_.parts)
            )
    return is_fit


def _list_items(value: Any) -> list[Any]:
    """Return the items of an array, or the values of an object."""
    return list(value.values()) if is_object(value) else value if is_array(value) else []


def _is_within(value: Any, name: str, limit: Any) -> bool:
    if name == "pattern":
        return _matches(limit, value)
    size = len(value) if isinstance(value, str) or is_array(value) else value
    return bool(size >= limit if name in ("minimum", "min_length") else size <= limit)


def _matches(pattern: str, text: str) -> bool:
    try:
        return bool(re.search(pattern, text))
    except re.error:  # JSON Schema's patterns have JavaScript's syntax
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
        _fits_field(schema, value[field.wire], field, strict=strict)
        if field.wire in value
        else not field.required or (not strict and "DefaultOnMissing" in field.markers)
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


def drop_defaults(schema: Schema, value: Any, type_: Type) -> Any:
    """Return a value in which no object has a key whose value is the default of its property."""
    definition = schema.definitions.get(type_.non_null.name)
    if not isinstance(definition, Model) or not is_object(value):
        return value
    fields = {field.wire: field for field in schema.fields(definition.name)}
    inner = {
        key: drop_defaults(schema, item, fields[key].type) if key in fields else item for key, item in value.items()
    }
    return {key: item for key, item in inner.items() if not _is_default(schema, fields.get(key), item)}


def _is_default(schema: Schema, field: Field | None, value: Any) -> bool:
    return field is not None and field.has_default and value == drop_defaults(schema, field.default, field.type)


def python_source(schema: Schema, value: Any, type_: Type) -> str:
    """Write a value of a type as a Python expression."""
    definition = schema.definitions.get(type_.name)
    if isinstance(definition, Model):
        fields = (field for field in schema.fields(definition.name) if field.wire in value and field.tag is None)
        keywords = (f"{field.name}={python_source(schema, value[field.wire], field.type)}" for field in fields)
        return f"{definition.name}({', '.join(keywords)})"
    if definition:
        return python_source(schema, value, definition.type)
    if type_.kind == "union":
        return python_source(schema, value, next(part for part in type_.parts if fits(schema, value, part)))
    items = [python_source(schema, item, part) for part in type_.parts for item in _list_items(value)]
    if not items:
        return python_literal(value)
    if is_object(value):
        pairs = (f"{python_literal(key)}: {item}" for key, item in zip(value, items, strict=True))
        return f"{{{', '.join(pairs)}}}"
    return f"[{', '.join(items)}]"


class Samples:
    """Makes samples of the values of one schema's types.

    A model has a sample with only its required properties, a sample with all properties, and a sample for each sample
    of each property. A reader that refuses some values of a type most likely refuses one of the samples.

    Args:
        schema: the schema.
        scalars: further scalars to choose from, such as the boundary values of the reader's types.
    """

    def __init__(self, schema: Schema, scalars: Iterable[Any]) -> None:
        self._schema = schema
        self._scalars = tuple({python_literal(scalar): scalar for scalar in (*_SCALARS, *scalars)}.values())

    def make_smallest(self, type_: Type) -> Any:
        """Return a sample whose objects have only the required properties; an empty object if there is no sample."""
        return next(iter(self.make_shallow(type_, -1)), dict[str, Any]())

    def make_shallow(self, type_: Type, depth: int) -> list[Any]:
        """Return samples whose objects have only the required properties below a depth."""
        # Each empty name counts as a definition around the type.
        return self.make(type_, ("",) * (_MAX_DEPTH - depth - 1))

    def make(self, type_: Type, inside: tuple[str, ...] = ()) -> list[Any]:
        """Return samples of a type. They don't repeat the definitions that the type is `inside`."""
        match type_.kind:
            case "ref":
                values = self._make_for_definition(type_.name, inside)
            case "union":
                values = [value for part in type_.parts for value in self.make(part, inside)]
            case "literal":
                values = list(type_.values)
            case "array":
                size = max(1, type_.limit("min_length") or 0)
                values = [[], *([item] * size for item in self.make(type_.parts[0], inside))]
            case "map":
                values = [{}, *({"key": value} for value in self.make(type_.parts[0], inside))]
            case _:
                values = list(self._scalars)
        return [value for value in values if fits(self._schema, value, type_)]

    def _make_for_definition(self, name: str, inside: tuple[str, ...]) -> list[Any]:
        if name in inside:
            return []
        definition = self._schema.definitions[name]
        if isinstance(definition, Model):
            return self._make_for_model(definition, (*inside, name))
        return self.make(definition.type, (*inside, name))

    def _make_for_model(self, model: Model, inside: tuple[str, ...]) -> list[Any]:
        fields = [field for field in self._schema.fields(model.name) if field.required or len(inside) < _MAX_DEPTH]
        samples = {field.wire: self._make_for_field(field, inside) for field in fields}
        if not all(samples[field.wire] for field in fields if field.required):
            return []
        smallest = {field.wire: samples[field.wire][0] for field in fields if field.required}
        if len(inside) > _MAX_DEPTH:
            return [smallest]
        complete = {wire: values[0] for wire, values in samples.items() if values}
        variations = ({**smallest, wire: value} for wire, values in samples.items() for value in values)
        return [smallest, complete, *variations]

    def _make_for_field(self, field: Field, inside: tuple[str, ...]) -> list[Any]:
        values = [field.tag] if field.tag is not None else self.make(field.type, inside)
        return [value for value in values if _fits_field(self._schema, value, field)]


def find_boundary_values(schema: Schema, types: Iterable[Type], depth: int = 1) -> Iterator[Any]:
    """Yield the constants of types, and values around their limits. Those of a model come from its properties."""
    for type_ in types:
        yield from type_.values
        for step in (-1, 0, 1):
            limits = {
                name: max(limit + step, 0) if name.endswith("length") else limit + step
                for name, limit in type_.limits
                if name != "pattern"
            }
            yield from ("x" * size if name.endswith("length") else size for name, size in limits.items())
        if pattern := type_.limit("pattern"):
            yield from _make_matching_texts(pattern)
        yield from find_boundary_values(schema, type_.parts, depth)
        definition = schema.definitions.get(type_.name)
        if isinstance(definition, Model) and depth:
            yield from find_boundary_values(schema, (field.type for field in schema.fields(type_.name)), depth - 1)
        elif definition and not isinstance(definition, Model):
            yield from find_boundary_values(schema, [definition.type], depth)


def _make_matching_texts(pattern: str) -> Iterator[str]:
    """Yield texts that match a pattern: one of each small length, from the letters and digits in the pattern."""
    letters = list(dict.fromkeys(re.findall(r"[^\W_]", f"a0{pattern}")))[:_LETTERS]
    for size in range(_MAX_LENGTH + 1):
        texts = map("".join, itertools.product(letters, repeat=size))
        yield from itertools.islice((text for text in texts if _matches(pattern, text)), 1)
