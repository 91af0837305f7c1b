"""The stable part of a schema that has unstable parts, too.

Up to release 1.9, upstream published version 1 in one file. Its unstable parts are marked in their descriptions, so the
schema of the stable profile can be made from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from codegen.nodes import REF_PREFIX, Json, is_array, is_object

_MARK = "**UNSTABLE**"
_DEFINITIONS, _PROPERTIES, _REQUIRED = "$defs", "properties", "required"


def stable_part(raw: dict[str, Json]) -> dict[str, Json]:
    """Return a schema without its unstable parts, and without the definitions that only they use."""
    schema = _without(raw, _is_marked)
    gone = raw[_DEFINITIONS].keys() - schema[_DEFINITIONS].keys()
    while gone:
        schema = _without_definitions(schema, gone)
        gone = _unused(raw, schema)
    found: dict[str, Json] = _with_defaults(schema, _marked_properties(raw))
    return found


def _is_marked(node: Json) -> bool:
    return is_object(node) and str(node.get("description", "")).startswith(_MARK)


def _refers_to(node: Json, gone: set[str]) -> bool:
    """Return whether an alternative of a union is one of these definitions."""
    if not is_object(node):
        return False
    parts: list[Json] = [node, *node.get("allOf", ())]
    return any(str(part.get("$ref", "")).removeprefix(REF_PREFIX) in gone for part in parts if is_object(part))


def _without_definitions(schema: dict[str, Json], gone: set[str]) -> dict[str, Json]:
    kept = {name: each for name, each in schema[_DEFINITIONS].items() if name not in gone}
    found: dict[str, Json] = _without({**schema, _DEFINITIONS: kept}, lambda node: _refers_to(node, gone))
    return found


def _without(node: Json, is_gone: Callable[[Json], bool]) -> Any:
    """Return a node without the definitions, properties and alternatives that are gone."""
    if is_array(node):
        return [_without(each, is_gone) for each in node if not is_gone(each)]
    if not is_object(node):
        return node
    found: dict[str, Json] = {}
    for key, value in node.items():
        kept = value
        if key in (_DEFINITIONS, _PROPERTIES):
            kept = {name: each for name, each in value.items() if not is_gone(each)}
        elif key == _REQUIRED and is_array(value):
            kept = [name for name in value if not is_gone(node.get(_PROPERTIES, {}).get(name))]
        found[key] = _without(kept, is_gone)
    return found


def _marked_properties(node: Json) -> set[str]:
    """Return the names of the properties that are marked, anywhere in a node."""
    if is_array(node):
        return set[str]().union(*map(_marked_properties, node))
    if not is_object(node):
        return set()
    own = {name for name, each in node.get(_PROPERTIES, {}).items() if _is_marked(each)}
    return own.union(*map(_marked_properties, node.values()))


def _with_defaults(node: Json, gone: set[str], *, is_default: bool = False) -> Any:
    """Return a node whose defaults don't have these properties."""
    if is_array(node):
        return [_with_defaults(each, gone, is_default=is_default) for each in node]
    if not is_object(node):
        return node
    kept = {key: value for key, value in node.items() if not (is_default and key in gone)}
    return {key: _with_defaults(each, gone, is_default=is_default or key == "default") for key, each in kept.items()}


def _unused(raw: dict[str, Json], schema: dict[str, Json]) -> set[str]:
    """Return the definitions that no message uses, or that belong to a method whose other definitions are gone."""
    definitions = schema[_DEFINITIONS]
    used = _reachable(schema)
    removed = {_method(each) for name, each in raw[_DEFINITIONS].items() if name not in definitions or name not in used}
    return {name for name, each in definitions.items() if name not in used or _method(each) in removed - {None}}


def _method(definition: Json) -> tuple[Json, Json] | None:
    return (definition["x-method"], definition.get("x-side")) if "x-method" in definition else None


def _reachable(schema: dict[str, Json]) -> set[str]:
    """Return the definitions that the schema's root uses, directly or through others."""
    found: set[str] = set()
    waiting = list(_references({key: value for key, value in schema.items() if key != _DEFINITIONS}))
    while waiting:
        name = waiting.pop()
        if name not in found and name in schema[_DEFINITIONS]:
            found.add(name)
            waiting += _references(schema[_DEFINITIONS][name])
    return found


def _references(node: Json) -> Iterator[str]:
    if is_object(node):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"].removeprefix(REF_PREFIX)
        node = list(node.values())
    if is_array(node):
        for each in node:
            yield from _references(each)
