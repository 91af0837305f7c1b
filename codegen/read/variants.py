"""Reads objects and the members of unions, and finds the tag that tells members apart."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from codegen.escaping import python_literal
from codegen.ir import Field
from codegen.names import attribute_name
from codegen.nodes import REF_PREFIX, Node
from codegen.read.properties import read_property
from codegen.read.types import VARIANTS, missing_definition_error
from codegen.types import NULL, Type, union_of


@dataclass(frozen=True)
class Variant:
    """An object, or a member of a union. Its keywords have been taken, its properties have not been read.

    Attributes:
        base: the definition that it refers to.
        nested: its members, if it is a union.
        exclusive: whether exactly one member must match (`oneOf`).
        forbidden: the keys that it can't have (`not` with `required`).
        excluded: the schema in `not` that lists tags.
        is_open: whether it mentions unknown keys.
        discriminator: the property that `discriminator` names.
        mapping: the definitions that `discriminator` names for tags.
        deprecated: whether it is deprecated.
    """

    node: Node
    title: str
    doc: str
    properties: dict[str, Node]
    required: frozenset[str]
    base: str | None
    nested: tuple[Variant, ...]
    exclusive: bool
    forbidden: tuple[str, ...]
    excluded: Node | None
    is_open: bool
    discriminator: str | None
    mapping: dict[str, str]
    deprecated: bool


@dataclass(frozen=True)
class Tag:
    """The property that tells a union's members apart.

    Attributes:
        key: the property's name; None if the union has no tag.
        known: its constants in the members.
        beside: its schema beside the members, if there is one.
    """

    key: str | None
    known: tuple[str, ...]
    beside: Node | None


def read_variant(node: Node, definitions: dict[str, Any]) -> Variant:
    """Take the keywords of an object."""
    title, doc = node.take("title", str, ""), node.take("description", str, "")
    base = node.take_ref()
    if base is not None and base not in definitions:
        raise missing_definition_error(base, node)
    if "properties" in node and "type" not in node:
        raise node.error('Expected `"type": "object"` beside `properties`.')
    kind = node.take("type", str, "object")
    if kind != "object":
        raise node.error(f"Expected an object, found {kind!r}.", "type")
    properties = node.take_map("properties")
    required: list[Any] = node.take("required", list, [])
    for key in required:
        if key not in properties:
            raise node.error(f"The property {key!r} is required but not described.", "required")
    excluded = node.take_node("not") if "not" in node else None
    forbidden: list[str] = excluded.take("required", list, []) if excluded else []
    if excluded and set(excluded.schema) <= {"type", "required"} and len(forbidden) == 1:
        excluded = None
    nested = tuple(read_variant(member, definitions) for keyword in VARIANTS for member in node.take_list(keyword))
    is_open = node.take_flag("unevaluatedProperties" if nested or base else "additionalProperties")
    if excluded and not is_open:
        raise node.error(
            "Expected an open member with `additionalProperties`, or with `unevaluatedProperties` if it wraps others."
        )
    discriminator: dict[str, Any] = node.take("discriminator", dict, {})
    node.close()
    return Variant(
        node=node,
        title=title,
        doc=doc,
        properties=properties,
        required=frozenset(required),
        base=base,
        nested=nested,
        exclusive="oneOf" in node,
        forbidden=() if excluded else tuple(forbidden),
        excluded=excluded,
        is_open=is_open,
        discriminator=discriminator.get("propertyName"),
        mapping=discriminator.get("mapping", {}),
        deprecated="deprecated" in node,
    )


def find_tag(union: Variant, shared: dict[str, Node]) -> Tag:
    """Find the tag of a union. `shared` are the properties described beside its members."""
    key = _find_tag_key(union)
    if key is None:
        return Tag(None, (), None)
    known = [value for member in union.nested if (value := find_constant(member, key)) is not None]
    for value in known:
        if known.count(value) > 1:
            raise union.node.error(f"Two members have the tag {value!r}.")
    beside = shared.get(key)
    if beside is not None and not any(_is_null(member, key) for member in union.nested):
        raise union.node.error(f"The tag {key!r} is described beside the members, but no member has null as its tag.")
    for value, target in union.mapping.items():
        bases = [member.base for member in union.nested if find_constant(member, key) == value]
        if target.removeprefix(REF_PREFIX) not in bases:
            raise union.node.error(f"No member with the tag {value!r} refers to {target}, as `mapping` says.")
    return Tag(key, tuple(known), beside)


def _find_tag_key(union: Variant) -> str | None:
    """Return the property that is a constant in the members of a union; None if there is no such property."""
    keys = dict.fromkeys(
        key for member in union.nested for key in member.properties if find_constant(member, key) is not None
    )
    if union.discriminator is not None and union.discriminator not in keys:
        raise union.node.error(
            f"No member has the constant {union.discriminator!r} that the discriminator names.", "discriminator"
        )
    if len(keys) > 1 and union.discriminator is None:
        raise union.node.error(
            f"The members have several constants, {', '.join(keys)}, and no `discriminator` says which is the tag."
        )
    return union.discriminator or next(iter(keys), None)


def find_constant(member: Variant, key: str | None) -> str | None:
    """Return the constant that a member requires for a property; None if it requires none."""
    node = member.properties.get(key) if key is not None else None
    value = node.schema.get("const") if node is not None else None
    return value if isinstance(value, str) and key in member.required else None


def take_tag(member: Variant, tag: Tag, definitions: dict[str, Any]) -> tuple[tuple[Field, ...], Variant]:
    """Return the fields for a member's tag (none or one), and the member without that property."""
    if tag.key is None or tag.key not in member.properties:
        if member.excluded is not None:
            raise member.node.error("There is no rule for `not`, except on the open member of a tagged union.", "not")
        return (), member
    node, value = member.properties[tag.key], find_constant(member, tag.key)
    rest = replace(member, properties={key: member.properties[key] for key in member.properties if key != tag.key})
    if value is not None:
        return (_read_constant_tag(member, node, tag.key, value),), rest
    read_field = _read_null_tag if _is_null(member, tag.key) else _read_open_tag
    return (read_field(member, node, tag, definitions),), rest


def _read_constant_tag(member: Variant, node: Node, key: str, value: str) -> Field:
    if member.excluded is not None:
        raise member.node.error("There is no rule for `not` on a member with a constant tag.", "not")
    if "$ref" in node or "allOf" in node:
        raise node.error("Expected a constant as the tag, found a reference.")
    field = read_property(key, node, required=True, definitions={})
    if attribute_name(key) != field.name:
        raise node.error(f"There is no rule for a tag ({key!r}) that isn't camelCase.")
    return replace(field, tag=value)


def _read_null_tag(member: Variant, node: Node, tag: Tag, definitions: dict[str, Any]) -> Field:
    """Read the tag of a member whose tag is null."""
    assert tag.key is not None
    if tag.key in member.required:
        raise member.node.error(f"There is no rule for a null {tag.key!r} that is required.", "required")
    field = read_property(tag.key, node, required=False, definitions=definitions)
    falls_back = tag.beside is not None and _falls_back(tag.beside, definitions)
    return replace(field, markers=("NoTag",) if falls_back else ())


def _read_open_tag(member: Variant, node: Node, tag: Tag, definitions: dict[str, Any]) -> Field:
    """Read the tag of the open member, which accepts the tags that the schema does not name."""
    assert tag.key is not None
    if tag.key not in member.required:
        raise member.node.error(f"Expected the open member to require the tag {tag.key!r}.", "required")
    excluded = _take_excluded_tags(member.excluded, tag.key) if member.excluded else []
    if missing := sorted(set(tag.known) - set(excluded)):
        message = f"Expected the open member to exclude all known tags; it doesn't exclude {', '.join(missing)}."
        raise member.node.error(message, "not")
    # Tags that only another profile knows are excluded, too.
    reserved = [value for value in excluded if value not in tag.known]
    others = ", ".join(map(python_literal, (*tag.known, *reserved)))
    field = read_property(tag.key, node, required=True, definitions=definitions)
    return replace(field, markers=(f"OtherThan({others})",))


def _is_null(member: Variant, key: str) -> bool:
    return key in member.properties and bool(member.properties[key].schema.get("type") == "null")


def _falls_back(node: Node, definitions: dict[str, Any]) -> bool:
    """Return whether an invalid tag is replaced by its default. The tag must be an optional string."""
    field = read_property("tag", Node(node.schema, node.pointer), required=False, definitions=definitions)
    if field.type != union_of([Type("string"), NULL]) or field.has_default:
        raise node.error(f"Expected an optional string as the tag, found {field.type.annotation}.")
    return "DefaultOnError" in field.markers


def _take_excluded_tags(node: Node, key: str) -> list[str]:
    """Return the tags that `not` lists as objects with one constant."""
    tags: list[str] = []
    for excluded in node.take_list("anyOf"):
        value = excluded.schema.get("properties", {}).get(key, {}).get("const")
        described = {key: {"type": "string", "const": value}}
        is_constant = excluded.schema == {"type": "object", "properties": described, "required": [key]}
        if not is_constant or not isinstance(value, str):
            raise excluded.error("Expected one constant tag and nothing else.")
        tags.append(value)
    node.close()
    return tags
