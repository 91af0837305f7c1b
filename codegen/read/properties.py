"""Reads a property of an object as a field of a model: its name, type, default, and tolerance of invalid values."""

from __future__ import annotations

from typing import Any

from codegen.chosen_names import find_attribute, suggest_entry
from codegen.escaping import python_literal
from codegen.ir import Field
from codegen.names import attribute_name, snake
from codegen.nodes import Node
from codegen.read.docs import add_member_docs, take_title_and_description
from codegen.read.types import read_type
from codegen.types import NULL, Type

_DEFAULT_ON_ERROR = "x-deserialize-default-on-error"
_DEFAULT_ON_NULL = "x-deserialize-default-on-null"
_SKIP_INVALID_ITEMS = "x-deserialize-skip-invalid-items"
# Defaults of optional properties for which the schema states none. For other types, it is None.
_EMPTY: dict[str, Any] = {"array": [], "map": {}}


def read_property(wire: str, node: Node, required: bool, definitions: dict[str, Any]) -> Field:
    """Read one property with all its keywords."""
    name, alias = _find_name(wire, node)
    doc = add_member_docs(take_title_and_description(node), node.schema)
    on_error = node.take_flag(_DEFAULT_ON_ERROR)
    on_null = node.take_flag(_DEFAULT_ON_NULL)
    skip_items = node.take_flag(_SKIP_INVALID_ITEMS)
    default: Any = node.take("default", object, None)
    type_ = read_type(node, definitions)
    node.close()
    has_default = default is not None or ("default" in node and (required or not type_.nullable))
    _check_leniency(node, type_, required, on_error, on_null, skip_items, has_default)
    default = default if has_default or required else _EMPTY.get(type_.kind)
    markers = {
        f"Field(alias={python_literal(wire)})": alias,
        "SkipInvalidItems": skip_items,
        "NotNull": not required and default is None and not type_.nullable,
        "DefaultOnNull": on_null,
        "DefaultOnError": on_error,
    }
    return Field(
        wire=wire,
        name=name,
        type=type_,
        required=required,
        doc=doc,
        markers=tuple(marker for marker, is_set in markers.items() if is_set),
        default=default,
        has_default=has_default,
        deprecated="deprecated" in node,
    )


def read_forbidden(wire: str, node: Node) -> Field:
    """Return the field for a key that an object can't have. It is always missing, or null."""
    return Field(wire, _find_name(wire, node)[0], NULL, required=False, doc="The object doesn't have this key.")


def _find_name(wire: str, node: Node) -> tuple[str, bool]:
    """Return the attribute of a key, and whether it is from `names.toml`."""
    name = find_attribute(wire)
    if name is None:
        raise node.error(
            f"The key {wire!r} has no Python name; expected camelCase that converts to snake_case and back.",
            next_step=suggest_entry("attributes", wire, f"key_{snake(wire)}".rstrip("_")),
        )
    return name, name != attribute_name(wire)


def _check_leniency(
    node: Node, type_: Type, required: bool, on_error: bool, on_null: bool, skip_items: bool, has_default: bool
) -> None:
    if skip_items and type_.non_null.kind != "array":
        raise node.error("Only an array can have items to skip.", _SKIP_INVALID_ITEMS)
    if on_null and type_.kind not in _EMPTY:
        raise node.error(
            "There is no rule for replacing null here; expected an array or a map that can't be null.", _DEFAULT_ON_NULL
        )
    if required and has_default:
        raise node.error("There is no rule for a required property with a default.", "default")
    if required and (on_error or on_null) and type_.kind != "array":
        raise node.error(
            "There is no rule for the fallback of a required property, unless it is an array that can't be null."
        )
