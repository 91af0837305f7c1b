"""Reads types from JSON Schema: references, enums, scalars with limits, arrays and maps.

Objects with properties need a name, so `codegen.read.normalise` reads them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Annotated, Any

import pydantic_core
from pydantic import Field, TypeAdapter

from codegen.errors import REPORT, SchemaError
from codegen.nodes import REF_PREFIX, Node, is_array, is_object
from codegen.types import ANY, NULL, RANGES, Type, limited_type, union_of

VARIANTS = ("anyOf", "oneOf")
_STRING_FORMATS = ("date-time", "regex", "uri")
_ENCODINGS = ("base64",)
# The kind of the JSON values of a type or of a constant. Each value has one kind.
_JSON_KINDS: dict[str | type, str] = {
    "string": "string",
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "array": "array",
    "map": "object",
    str: "string",
    int: "number",
    bool: "boolean",
}


def read_type(node: Node, definitions: dict[str, Any]) -> Type:
    """Take all keywords about a node's type. The definitions need not have been read yet."""
    ref = node.take_ref()
    if ref is not None:
        if ref not in definitions:
            raise missing_definition_error(ref, node)
        return Type("ref", ref, refers_to_null=_allows_null(definitions, ref))
    if any(keyword in node for keyword in VARIANTS):
        return _read_union(node, definitions)
    if "type" not in node:
        constants = _take_constants(node, (str, int))
        return union_of([constants, *([NULL] if _lists_null(node.schema) else [])]) if constants else ANY
    return _read_declared(node, definitions)


def _read_declared(node: Node, definitions: dict[str, Any]) -> Type:
    declared: Any = node.take("type", object, "")
    names: list[Any] = declared if is_array(declared) else [declared]
    concrete = [name for name in names if name != "null"]
    if not concrete:
        return NULL
    match concrete:
        case ["string"]:
            type_ = _read_string(node)
        case ["integer"]:
            type_ = _read_integer(node)
        case ["number"]:
            type_ = limited_type("number", _take_known(node, "format", ("double",)), _take_bounds(node, (int, float)))
        case ["boolean"]:
            type_ = _take_constants(node, bool) or Type("boolean")
        case ["array"]:
            type_ = _read_array(node, definitions)
        case ["object"]:
            type_ = _read_object(node, definitions)
        case _:
            raise node.error(f"Expected one type, or one type and null, found {declared!r}.", "type")
    return union_of([type_, NULL]) if "null" in names and _lists_null(node.schema, otherwise=True) else type_


def _read_string(node: Node) -> Type:
    choices = _take_constants(node, str)
    if choices:
        return choices
    format_ = _take_known(node, "format", _STRING_FORMATS) or _take_known(node, "contentEncoding", _ENCODINGS)
    limits = _take_limits(node, minLength="min_length", maxLength="max_length", pattern="pattern")
    if "pattern" in limits:
        _check_pattern(limits["pattern"], node)
    return limited_type("string", format_, limits)


def _check_pattern(pattern: str, node: Node) -> None:
    """Check that pydantic can use a pattern. Otherwise, models with it would raise at their first use."""
    try:
        TypeAdapter(Annotated[str, Field(pattern=pattern)])
    except pydantic_core.SchemaError as error:
        reason = str(error).splitlines()[-1].removeprefix("error: ").strip().removesuffix(".")
        raise node.error(f"pydantic can't use the pattern {pattern!r}: {reason}.", "pattern") from error


def _read_integer(node: Node) -> Type:
    format_ = _take_known(node, "format", RANGES)
    choices = _take_constants(node, int)
    if choices:
        return choices
    if format_.startswith("u") and "minimum" not in node:
        raise node.error("Expected `minimum` beside an unsigned format.", "format")
    stated = _take_bounds(node, int)
    return limited_type("integer", format_, {} if format_.startswith("u") and stated == {"minimum": 0} else stated)


def _read_array(node: Node, definitions: dict[str, Any]) -> Type:
    if "items" not in node:
        raise node.error("There is no rule for an array without `items`.")
    item = read_annotated(node.take_node("items"), definitions)
    return limited_type("array", "", _take_limits(node, minItems="min_length", maxItems="max_length"), item)


def _read_object(node: Node, definitions: dict[str, Any]) -> Type:
    if "properties" in node:
        raise node.error(
            "There is no rule for an inline object with properties, which has no name; expected a definition."
        )
    if "additionalProperties" not in node:
        raise node.error("There is no rule for an object with neither `properties` nor `additionalProperties`.")
    if node.schema["additionalProperties"] is True:
        node.take_flag("additionalProperties")
        return Type("map", parts=(ANY,))
    return Type("map", parts=(read_annotated(node.take_node("additionalProperties"), definitions),))


def read_annotated(node: Node, definitions: dict[str, Any]) -> Type:
    """Read the type of a node, without its title and description."""
    node.take("title", str, "")
    node.take("description", str, "")
    type_ = read_type(node, definitions)
    node.close()
    return type_


def _read_union(node: Node, definitions: dict[str, Any]) -> Type:
    """Read an inline union. Members keep upstream's order. Inline objects can't be members."""
    members = [member for keyword in VARIANTS for member in node.take_list(keyword)]
    types = [read_annotated(member, definitions) for member in members]
    if "oneOf" in node and not _are_disjoint(types):
        raise node.error("Expected `anyOf`, or members that have no value in common, such as constants or null.")
    return union_of(types)


def _are_disjoint(types: list[Type]) -> bool:
    """Return whether no value can be of two of these types."""
    if NULL in types:
        others = [type_ for type_ in types if type_ != NULL]
        return len(others) == len(types) - 1 and not any(type_.nullable for type_ in others) and _are_disjoint(others)
    type_kinds = [_JSON_KINDS.get(type_.kind) for type_ in types if not type_.values]
    constants = [constant for type_ in types for constant in type_.written_values]
    constant_kinds = {_JSON_KINDS[type(value)] for type_ in types for value in type_.values}
    return len(types) == 1 or (
        None not in type_kinds
        and len(set(type_kinds)) == len(type_kinds)
        and len(set(constants)) == len(constants)
        and not constant_kinds.intersection(type_kinds)
    )


def _take_constants(node: Node, kind: type[Any] | tuple[type[Any], ...]) -> Type | None:
    """Take the constants of an enum as a type; None if there are none.

    They must be of the type `kind`, or null if null is declared.
    """
    constants: list[Any] = node.take("enum", list, [])
    if "const" in node:
        constants = [*constants, node.take("const", object, None)]
    may_be_null = "null" in node.schema.get("type", ("null",))
    values = [value for value in constants if value is not None or not may_be_null]
    for value in values:
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is int):
            raise node.error(f"The constant {value!r} is not of the type declared beside it.")
    if values or not constants:
        return Type("literal", values=tuple(values)) if values else None
    return NULL


def _take_known(node: Node, keyword: str, known: Collection[str]) -> str:
    """Take a keyword whose value must be known; empty if the keyword is missing."""
    value = node.take(keyword, str, "")
    if keyword in node and value not in known:
        raise node.error(f"{value!r} has no rule; known are {', '.join(sorted(known))}.", keyword)
    return value


def _take_limits(node: Node, **keywords: str) -> dict[str, Any]:
    """Take the limits that a node states, by their names in Python."""
    return {name: node.take(keyword, (int, str), 0) for keyword, name in keywords.items() if keyword in node}


def _take_bounds(node: Node, kind: type[Any] | tuple[type[Any], ...]) -> dict[str, Any]:
    return {keyword: node.take(keyword, kind, 0) for keyword in ("minimum", "maximum") if keyword in node}


def missing_definition_error(name: str, node: Node) -> SchemaError:
    return node.error(f"There is no definition {name!r}.", next_step=REPORT)


def _lists_null(schema: Mapping[str, Any], *, otherwise: bool = False) -> bool:
    """Return whether null is one of the constants of a schema; `otherwise` if it has no constants."""
    if "enum" in schema:
        return None in schema["enum"]
    return schema["const"] is None if "const" in schema else otherwise


def _allows_null(raw: dict[str, Any], name: str, seen: frozenset[str] = frozenset()) -> bool:
    """Return whether a definition allows null."""
    return name not in seen and _schema_allows_null(raw, raw.get(name, {}), seen | {name})


def _schema_allows_null(raw: dict[str, Any], schema: Any, seen: frozenset[str]) -> bool:
    if not set(schema) - {"description", "title", "x-side", "x-method", "deprecated"}:
        return True
    declared = schema.get("type", [])
    if declared == "null" or "null" in declared:
        return _lists_null(schema, otherwise=True)
    if _lists_null(schema):
        return True
    if "$ref" in schema:
        return _allows_null(raw, schema["$ref"].removeprefix(REF_PREFIX), seen)
    variants = [member for keyword in VARIANTS for member in schema.get(keyword, ())]
    return any(_schema_allows_null(raw, part, seen) for part in (*variants, *schema.get("allOf", ())))


def is_class(raw: dict[str, Any], schema: Any, seen: frozenset[str] = frozenset()) -> bool:
    """Return whether a schema is an object that gets a class, or a union of such objects."""
    if not is_object(schema):
        return False
    if "properties" in schema or schema.get("type") == "object":
        return "properties" in schema or not is_object(schema.get("additionalProperties"))
    variants = [member for keyword in VARIANTS for member in schema.get(keyword, ())]
    if variants:
        return all(is_class(raw, member, seen) for member in variants)
    parts = schema.get("allOf", ())
    refs = [part["$ref"].removeprefix(REF_PREFIX) for part in (*parts, schema) if is_object(part) and "$ref" in part]
    return bool(refs) and all(ref not in seen and is_class(raw, raw.get(ref), seen | {ref}) for ref in refs)
