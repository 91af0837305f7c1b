"""Checks that the pinned schemas have every property and value that `methods.toml` names, to find misspelt names.

A single schema may lack some of them, because the file covers every release. Entries of methods that no pinned schema
has are not checked.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from codegen.errors import FileError, SchemaError
from codegen.ir import Method, Schema
from codegen.names import attribute_name
from codegen.pinned.profiles import Profile, naming
from codegen.read.facts import CORRECT
from codegen.read.facts_file import FILE, SHARED
from codegen.read.methods import ADVERTISED_IN, entry_of, shared_properties
from codegen.toml import MEANING
from codegen.types import Type
from codegen.values import fits


def check_all_used(schemas: Iterable[tuple[Profile, Schema]], *, listed: bool) -> None:
    """Check that every name in the file is used by a pinned schema.

    Args:
        schemas: the pinned schemas.
        listed: whether the file must have all their methods.

    Raises:
        FileError: no pinned schema has a property, a part or a tag that the file names, or the file lacks a method.
    """
    versions: dict[str, list[tuple[Profile, Schema]]] = defaultdict(list)
    for profile, schema in schemas:
        versions[profile.table].append((profile, schema))
    for version, found in versions.items():
        with naming(found[0][0]):
            _check_properties(version, [schema for _, schema in found])
        used: dict[tuple[str, str], set[tuple[str, Any]]] = defaultdict(set)
        first: dict[tuple[str, str], Profile] = {}
        for profile, schema in found:
            for method in schema.methods:
                with naming(profile):
                    _check_result(schema, method)
                used[method.side, method.wire].update(_used(method))
                first.setdefault((method.side, method.wire), profile)
        for (side, wire), profile in first.items():
            with naming(profile):
                entry = entry_of(version, side, wire)
                if entry is None and listed:
                    raise FileError("", f"{FILE} [{version}.{side}] has no entry for {wire!r}. Add one. {MEANING}")
                _check_entry(f"{FILE} [{version}.{side}] {wire!r}", version, entry or {}, used[side, wire])


def _check_entry(place: str, version: str, entry: dict[str, Any], used: set[tuple[str, Any]]) -> None:
    for key, name, value in _named(entry):
        if (key, value) not in used:
            what = "part" if key == "content" else "property"
            missing = f"`{key}` names {name!r}, but the method has no such {what} in any pinned schema of {version}."
            raise FileError("", f"{place}: {missing} {CORRECT}")


def _named(entry: dict[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """Yield what an entry names: the key, the name, and its value in the facts of a method."""
    for key in ("creates", "ends", "exempt", "cancels"):
        if key in entry:
            yield key, entry[key], attribute_name(entry[key])
    for path in entry.get("paths", ()):
        yield "paths", path, attribute_name(path)
    for key, names in (
        ("content", entry.get("content", {})),
        ("cancelled", entry.get("cancelled", {}).get("result", {})),
    ):
        yield from ((key, name, name) for name in names)


def _used(method: Method) -> Iterator[tuple[str, Any]]:
    """Yield the keys and values of an entry that took effect on a method."""
    for key, value in method.facts:
        names = value if key == "paths" else json.loads(value[1]) if key == "cancelled" else [value]
        yield from ((key, name) for name in names)
    yield from (("content", part) for part, _ in method.content)


def _check_result(schema: Schema, method: Method) -> None:
    """Check that the result of a cancelled request is one."""
    _, text, _ = dict(method.facts).get("cancelled", ("", "", False))
    if text and not fits(schema, json.loads(text), Type("ref", method.result or "")):
        message = f"{FILE} {method.wire!r}: the result in `cancelled`, {text}, is not a {method.result}."
        raise SchemaError(f"/$defs/{method.result}", message, next_step=CORRECT)


def _check_properties(version: str, schemas: list[Schema]) -> None:
    """Check that the messages concerned have the properties of `[<version>.properties]`."""
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
            missing = f"`{key}` is {name!r}, a property that the messages concerned don't have in any pinned schema"
            raise FileError("", f"{FILE} [{version}.{SHARED}]: {missing} of {version}. {CORRECT}")


def _wires(schema: Schema, name: str) -> set[str]:
    """Return the properties of a definition; of a union, those of all its members."""
    return {field.wire for model in schema.concrete_models(name) for field in schema.fields(model.name)}
