"""Proposes the entry of a method that `methods.toml` doesn't have yet, from what its schema says.

`make upgrade` writes the entry to the file, for a person to confirm. It has no effects on sessions, and names the
capability that is named like the method or that the method's description names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

# It holds extensions of the protocol, which unlock nothing in the schema.
_META = "_meta"
_NAMED = re.compile(r"`([A-Za-z.]+)`")
_OFFERED = "the other side is known to handle it"


def proposed_entry(definitions: dict[str, Any], wire: str, doc: str, message: str, start: str) -> dict[str, Any]:
    """Return the entry of a method.

    Args:
        definitions: the schema's `$defs`.
        wire: the method's name.
        doc: what the schema says about the method and its params.
        message: the message that advertises the capabilities of the method's side; empty if there is none.
        start: the property of that message that holds them.

    Raises:
        ValueError: several capabilities fit.
    """
    paths = list(capability_paths(definitions, message, start))
    steps = [_plain(step) for step in wire.split("/")]
    found = [path for path in paths if [_plain(step) for step in path.split(".")][-len(steps) :] == steps]
    found = found or list(dict.fromkeys(filter(None, (_shortest(paths, name) for name in _NAMED.findall(doc)))))
    if len(found) > 1:
        raise ValueError(f"Several capabilities fit its name or its description: {', '.join(found)}.")
    return {"capability": found[0]} if found else {"offered": _OFFERED}


def _shortest(paths: list[str], name: str) -> str:
    """Return the capability that a description names by the end of its path; empty if it names something else."""
    return min((path for path in paths if f".{path}".endswith(f".{name}")), key=len, default="")


def _plain(step: str) -> str:
    """Return a step of a name without what differs between methods and properties: `sessionCapabilities`, `session`."""
    return step.replace("_", "").lower().removesuffix("capabilities")


def capability_paths(definitions: dict[str, Any], message: str, start: str) -> Iterator[str]:
    """Yield the paths of all capabilities below a property of the message that advertises them."""
    first = definitions.get(message, {}).get("properties", {}).get(start, {})
    return _below(definitions, start, first, ())


def _below(definitions: dict[str, Any], path: str, schema: Any, seen: tuple[str, ...]) -> Iterator[str]:
    """Yield the paths of the properties below a property."""
    name = target_of(schema)
    if name is None or name in seen:
        return
    for key, value in definitions.get(name, {}).get("properties", {}).items():
        if key != _META:
            yield f"{path}.{key}"
            yield from _below(definitions, f"{path}.{key}", value, (*seen, name))


def target_of(schema: Any) -> str | None:
    """Return the name of the definition that a property refers to; None if it refers to none."""
    for part in (schema, *schema.get("allOf", ()), *schema.get("anyOf", ())):
        if "$ref" in part:
            return str(part["$ref"]).rsplit("/", 1)[-1]
    return None
