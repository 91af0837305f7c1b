"""Reads a property of an object as a field of a model: its name, type, default and leniency."""

from __future__ import annotations

from typing import Any

from codegen.ir import Field
from codegen.names import attribute_name
from codegen.nodes import Node
from codegen.read.docs import add_member_docs, take_title_and_description
from codegen.read.types import read_type
from codegen.types import Type

_DEFAULT_ON_ERROR = "x-deserialize-default-on-error"
_DEFAULT_ON_NULL = "x-deserialize-default-on-null"
_SKIP_INVALID_ITEMS = "x-deserialize-skip-invalid-items"
# What the attribute of an absent property is. Others are None.
_EMPTY: dict[str, Any] = {"array": [], "map": {}}


def read_property(wire: str, node: Node, required: bool, definitions: dict[str, Any]) -> Field:
    """Read one property with all its keywords."""
    name = attribute_name(wire)
    if name is None:
        raise node.error(
            f"The key {wire!r} has no Python name; expected camelCase that converts to snake_case and back."
        )
    doc = add_member_docs(take_title_and_description(node), node.schema)
    on_error = node.take_flag(_DEFAULT_ON_ERROR)
    on_null = node.take_flag(_DEFAULT_ON_NULL)
    skip_items = node.take_flag(_SKIP_INVALID_ITEMS)
    has_default = "default" in node
    default: Any = node.take("default", object, None)
    type_ = read_type(node, definitions)
    node.close()
    _check_leniency(node, type_, required, on_error, on_null, skip_items, has_default)
    default = default if has_default or required else _EMPTY.get(type_.kind)
    markers = (
        *(["SkipInvalidItems"] if skip_items else []),
        *(["NotNull"] if not required and default is None and not type_.nullable else []),
        *(["DefaultOnNull"] if on_null else []),
        *(["DefaultOnError"] if on_error else []),
    )
    is_deprecated = "deprecated" in node
    return Field(wire, name, type_, required, doc, markers, default, has_default, deprecated=is_deprecated)


def _check_leniency(
    node: Node, type_: Type, required: bool, on_error: bool, on_null: bool, skip_items: bool, has_default: bool
) -> None:
    if skip_items and type_.non_null.kind != "array":
        raise node.error("Only an array can have items to skip.", _SKIP_INVALID_ITEMS)
    if on_null and type_.kind not in _EMPTY:
        raise node.error(
            "There is no rule for replacing null here; expected an array or a map that can't be null.", _DEFAULT_ON_NULL
        )
    if has_default and node.schema["default"] is None:
        raise node.error("There is no rule for a default of null, which upstream omits.", "default")
    if required and has_default:
        raise node.error("There is no rule for a required property with a default.", "default")
    if required and (on_error or on_null) and type_.kind != "array":
        raise node.error(
            "There is no rule for the fallback of a required property, unless it is an array that can't be null."
        )
