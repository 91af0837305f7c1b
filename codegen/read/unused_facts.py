"""Whether the pinned schemas have all that `methods.toml` names: a property that none of them has is a mistake there.

A single schema may lack some of it, because the file covers every release; and a line whose method none of them has is
not looked at.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from codegen.errors import FileError
from codegen.ir import Method, Schema
from codegen.names import attribute_name
from codegen.read.facts import THERE
from codegen.read.facts_file import SHARED
from codegen.read.methods import ADVERTISED_IN, FILE, entry_of, shared_properties


def check_all_used(schemas: Iterable[tuple[str, Schema]]) -> None:
    """Look for what the file names and the pinned schemas don't have.

    Args:
        schemas: the pinned schemas, each with its table in the file.

    Raises:
        FileError: there is something.
    """
    versions: dict[str, list[Schema]] = defaultdict(list)
    for version, schema in schemas:
        versions[version].append(schema)
    for version, found in versions.items():
        _check_properties(version, found)
        used: dict[tuple[str, str], set[tuple[str, Any]]] = defaultdict(set)
        for method in (method for schema in found for method in schema.methods):
            used[method.side, method.wire].update(_used(method))
        for (side, wire), names in used.items():
            _check_line(f"{FILE} [{version}.{side}] {wire!r}", version, entry_of(version, side, wire) or {}, names)


def _check_line(place: str, version: str, line: dict[str, Any], used: set[tuple[str, Any]]) -> None:
    for key, name, seen in _named(line):
        if (key, seen) not in used:
            what = "and no message of the method has such a part" if key == "content" else "and it has no such property"
            raise FileError("", f"{place}: `{key}` names {name!r}, {what} in any pinned schema of {version}. {THERE}")


def _named(line: dict[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """What a line names: its key, the name, and how that is seen in a method."""
    for key in ("creates", "ends", "exempt", "cancels"):
        if key in line:
            yield key, line[key], attribute_name(line[key])
    for path in line.get("paths", ()):
        yield "paths", path, attribute_name(path)
    for key, names in (
        ("content", line.get("content", {})),
        ("cancelled", line.get("cancelled", {}).get("result", {})),
    ):
        yield from ((key, name, name) for name in names)


def _used(method: Method) -> Iterator[tuple[str, Any]]:
    """What a method has of its line."""
    for key, value in method.facts:
        names = value if key == "paths" else json.loads(value[1]) if key == "cancelled" else [value]
        yield from ((key, name) for name in names)
    yield from (("content", part) for part, _ in method.content)


def _check_properties(version: str, schemas: list[Schema]) -> None:
    """What all methods have in common is in the messages that it is about, if there are such."""
    properties = shared_properties(version)
    params = [_wires(schema, each.params) for schema in schemas for each in schema.methods]
    opening = [
        _wires(schema, name)
        for schema in schemas
        for each in schema.methods
        if dict(each.facts).get("opens")
        for name in (each.params, each.result)
        if name
    ]
    wanted = [("session", params, any), ("version", opening, all)]
    for role, definition in ADVERTISED_IN.items():
        found = [_wires(schema, definition) for schema in schemas if definition in schema.definitions]
        wanted += [(f"{role}_{what}", found, any) for what in ("capabilities", "info")]
    for key, messages, enough in wanted:
        name = properties[key]
        if messages and not enough(name in each for each in messages):
            text = f"`{key}` is {name!r}, which is no property of the messages it is about in the pinned schemas"
            raise FileError("", f"{FILE} [{version}.{SHARED}]: {text} of {version}. {THERE}")


def _wires(schema: Schema, name: str) -> set[str]:
    """The properties of a definition, of a union those of all its members."""
    return {field.wire for leaf in schema.concrete_models(name) for field in schema.fields(leaf.name)}
