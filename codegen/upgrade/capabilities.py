"""Finds capabilities that are new in the schema and that no method requires, nor a part of its params.

The schema doesn't say what a capability unlocks, so `methods.toml` may need a fact about it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from codegen.diff.sources import Side, Snapshot
from codegen.ir import Schema
from codegen.read.methods import ADVERTISED_IN, target_of

# It holds extensions of the protocol, which unlock nothing in the schema.
_META = "_meta"


def unused_capabilities(base: Side, head: Side) -> list[str]:
    """Return the path of each new capability that no method of the head requires, with the profiles that have it."""
    found: dict[str, list[str]] = {}
    for profile, snapshot in head.profiles.items():
        for path in _unused(base.profiles[profile], snapshot) if profile in base.profiles else ():
            found.setdefault(path, []).append(profile)
    return [f"{path} ({', '.join(profiles)})" for path, profiles in found.items()]


def _unused(base: Snapshot, head: Snapshot) -> list[str]:
    """Return the paths of one profile, without those below another one of them."""
    known = {*_paths(base, head.schema.properties), *_required(head.schema)}
    found: list[str] = []
    for path in _paths(head, head.schema.properties):
        if path not in known and not any(path.startswith(f"{each}.") for each in found):
            found.append(path)
    return found


def _required(schema: Schema) -> Iterator[str]:
    """Yield the paths of all capabilities that methods require, and those above them."""
    for method in schema.methods:
        for path in filter(None, (method.capability, *dict(method.content).values())):
            yield from itertools.accumulate(path.split("."), "{}.{}".format)


def _paths(snapshot: Snapshot, properties: dict[str, str]) -> list[str]:
    """Return the paths of all capabilities, in both messages that advertise them."""
    definitions, found = snapshot.raw["$defs"], list[str]()
    for side, message in ADVERTISED_IN.items():
        start = properties.get(f"{side}_capabilities", "")
        first = definitions.get(message, {}).get("properties", {}).get(start, {})
        found += _below(definitions, start, first, ())
    return found


def _below(definitions: dict[str, Any], path: str, schema: Any, seen: tuple[str, ...]) -> Iterator[str]:
    """Yield the paths of the properties below a property."""
    name = target_of(schema)
    if name is None or name in seen:
        return
    for key, value in definitions.get(name, {}).get("properties", {}).items():
        if key != _META:
            yield f"{path}.{key}"
            yield from _below(definitions, f"{path}.{key}", value, (*seen, name))
