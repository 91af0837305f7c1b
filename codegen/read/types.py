"""Turns JSON Schema types into Python annotations.

Reads the schemas of properties, items and enums: references, scalars with their constraints, arrays, maps, enums and
inline unions of those. Objects with properties need a name; `codegen.read.normalise` reads them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from codegen.errors import SchemaError
from codegen.ir import Type
from codegen.nodes import Node, is_array

# Returns the type of the definition with a name; the node is for the error if there is none.
Lookup = Callable[[str, Node], Type]

ANY = Type("Any", "any", nullable=True, explicit_null=False)
_INTEGERS = {
    f"{sign}int{bits}": (0, 2**bits - 1) if sign else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    for sign in ("", "u")
    for bits in (8, 16, 32, 64)
}
_STRING_FORMATS = {"date-time": "DateTime", "regex": "Regex", "uri": "Uri"}
_ENCODINGS = {"base64": "Base64"}
_VARIANTS = ("anyOf", "oneOf")


def read_type(node: Node, lookup: Lookup) -> Type:
    """Read the type of a node, and take every keyword that describes it."""
    ref = node.take_ref()
    if ref is not None:
        return lookup(ref, node)
    if any(keyword in node for keyword in _VARIANTS):
        return _union(node, lookup)
    if "type" not in node:
        return ANY
    return _typed(node, lookup)


def _typed(node: Node, lookup: Lookup) -> Type:
    declared: Any = node.take("type", object, "")
    names: list[Any] = declared if is_array(declared) else [declared]
    nullable = "null" in names
    concrete = [name for name in names if name != "null"]
    if not concrete:
        return Type("None", "scalar", nullable=True, explicit_null=False)
    if len(concrete) > 1 or not isinstance(concrete[0], str) or concrete[0] not in _READERS:
        raise node.error(f"Expected one type, or one type and null, found {declared!r}.", "type")
    found = _READERS[concrete[0]](node, lookup)
    return replace(found, nullable=nullable)


def _string(node: Node, _: Lookup) -> Type:
    choices = _choices(node, str)
    if choices:
        return Type(literal(choices), "scalar")
    text = _lookup_name(node, "format", _STRING_FORMATS) or _lookup_name(node, "contentEncoding", _ENCODINGS) or "str"
    return Type(
        _constrained(node, text, minLength="min_length", maxLength="max_length", pattern="pattern"),
        "scalar",
        plain=text,
    )


def _integer(node: Node, _: Lookup) -> Type:
    width = _lookup_name(node, "format", {name: name.capitalize() for name in _INTEGERS})
    low, high = _INTEGERS.get((width or "").lower(), (None, None))
    choices = _choices(node, int)
    if choices:
        return Type(literal(choices), "scalar")
    if low == 0 and "minimum" not in node:
        raise node.error("Expected `minimum` beside an unsigned format.", "format")
    minimum, maximum = node.take("minimum", int, low), node.take("maximum", int, high)
    if width and (minimum, maximum) == (low, high) and ("minimum" in node, "maximum" in node) == (low == 0, False):
        return Type(width, "scalar")
    return Type(f"Annotated[{width or 'int'}, Integer({minimum}, {maximum})]", "scalar", plain="int")


def _number(node: Node, _: Lookup) -> Type:
    width = _lookup_name(node, "format", {"double": "Double"}) or "float"
    bounds: tuple[float | None, float | None] = (
        node.take("minimum", (int, float), None),
        node.take("maximum", (int, float), None),
    )
    is_plain = width == "Double" and bounds == (None, None)
    text = width if is_plain else f"Annotated[{width}, Number({bounds[0]}, {bounds[1]})]"
    return Type(text, "scalar", plain="float")


def _boolean(_: Node, __: Lookup) -> Type:
    return Type("bool", "scalar")


def _array(node: Node, lookup: Lookup) -> Type:
    if "items" not in node:
        raise node.error("There is no rule for an array without `items`.")
    item = read_annotated(node.take_node("items"), lookup)
    text = _constrained(node, f"list[{item.annotation}]", minItems="min_length", maxItems="max_length")
    return Type(text, "array", names=item.names, item=item)


def _object(node: Node, lookup: Lookup) -> Type:
    if "properties" in node:
        raise node.error(
            "There is no rule for an inline object with properties, which has no name; expected a definition."
        )
    if "additionalProperties" not in node:
        raise node.error("There is no rule for an object with neither `properties` nor `additionalProperties`.")
    if node.schema["additionalProperties"] is True:
        node.take_flag("additionalProperties")
        return Type("dict[str, Any]", "map")
    value = read_annotated(node.take_node("additionalProperties"), lookup)
    plain = f"Mapping[str, {value.parameter}]" if "Sequence[" in value.parameter else ""
    return Type(f"dict[str, {value.annotation}]", "map", names=value.names, plain=plain)


_READERS: dict[str, Callable[[Node, Lookup], Type]] = {
    "string": _string,
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
    "array": _array,
    "object": _object,
}


def read_annotated(node: Node, lookup: Lookup) -> Type:
    """Read the type of a node that may have a title or a description, which a type can't hold."""
    node.take("title", str, "")
    node.take("description", str, "")
    found = read_type(node, lookup)
    node.close()
    return found


def _union(node: Node, lookup: Lookup) -> Type:
    """Read an inline union, whose members keep upstream's order. Objects without a name can't be members."""
    nodes = [member for keyword in _VARIANTS for member in node.take_list(keyword)]
    _check_alternatives(node, nodes)
    members = [read_annotated(member, lookup) for member in nodes]
    found = union_of(members)
    if len({member.text for member in members}) < len(members):
        raise node.error("Two members of the union have the same type.")
    return found


def _check_alternatives(node: Node, members: list[Node]) -> None:
    """Check the form of upstream's unions without classes: constants alone are a `oneOf`, all others an `anyOf`."""
    constants = [member for member in members if "const" in member]
    if ("oneOf" in node) != (len(constants) == len(members)):
        raise node.error("Expected `oneOf` if all members are constants, `anyOf` otherwise.")
    if len({member.schema.get("format") for member in constants}) > 1:
        raise node.error("There is no rule for constants with different formats.")
    for member in members:
        if isinstance(member.schema.get("type"), list):
            raise node.error(
                "There is no rule for a union member with several types; expected null as a member of its own."
            )


def union_of(members: Iterable[Type]) -> Type:
    """Merge types into one: constants into one `Literal`, null into `nullable`, objects and arrays by first match."""
    members = list(members)
    concrete = [member for member in members if member.text != "None"]
    if not concrete:
        return replace(members[0], names=())
    nullable = any(member.nullable for member in members)
    explicit_null = any(member.nullable and (member.explicit_null or member.text == "None") for member in members)
    texts = list(dict.fromkeys(_merge_literals([member.text for member in concrete])))
    names = tuple(dict.fromkeys(name for member in concrete for name in member.names))
    if len(texts) == 1:
        only = concrete[0]
        return Type(texts[0], only.kind, nullable, names, only.item if len(concrete) == 1 else None, explicit_null)
    text = " | ".join(texts)
    plain = " | ".join(
        dict.fromkeys(_merge_literals([replace(member, nullable=False).parameter for member in concrete]))
    )
    if any(member.kind in ("ref", "array", "union") for member in concrete):
        text = f"Annotated[{text}, FirstMatch]"
    return Type(text, "union", nullable, names, explicit_null=explicit_null, plain=plain)


def _merge_literals(texts: list[str]) -> list[str]:
    constants = [text.removeprefix("Literal[").removesuffix("]") for text in texts if text.startswith("Literal[")]
    others = [text for text in texts if not text.startswith("Literal[")]
    return [f"Literal[{', '.join(constants)}]", *others] if constants else others


def literal(values: Iterable[Any]) -> str:
    return f"Literal[{', '.join(quoted(value) for value in values)}]"


def quoted(value: Any) -> str:
    """Return a JSON scalar as Python source, with strings in double quotes as the formatter writes them."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def _choices(node: Node, kind: type[Any]) -> list[Any]:
    values: list[Any] = node.take("enum", list, [])
    if "const" in node:
        values = [*values, node.take("const", kind, None)]
    for value in values:
        if not isinstance(value, kind) or isinstance(value, bool):
            raise node.error(f"The constant {value!r} is not of the type declared beside it.")
    return values


def _lookup_name(node: Node, keyword: str, known: dict[str, str]) -> str | None:
    value = node.take(keyword, str, "")
    if keyword not in node:
        return None
    if value not in known:
        raise node.error(f"{value!r} has no rule; known are {', '.join(sorted(known))}.", keyword)
    return known[value]


def _constrained(node: Node, text: str, **keywords: str) -> str:
    found = {python: node.take(keyword, (int, str), None) for keyword, python in keywords.items() if keyword in node}
    if not found:
        return text
    arguments = ", ".join(f"{python}={quoted(value)}" for python, value in found.items())
    return f"Annotated[{text}, Field({arguments})]"


def missing_definition(name: str, node: Node) -> SchemaError:
    return node.error(f"There is no definition {name!r}.")
