"""Proposes the entry of a method that `methods.toml` doesn't have yet, from what its schema says.

`make upgrade` writes the entry to the file, for a person to confirm. It has no effects on sessions, and names the
capability that is named like the method or that the method's description names.
"""

from __future__ import annotations

import re
from typing import Any

_NAMED = re.compile(r"`([A-Za-z.]+)`")
_OFFERED = "the other side is known to handle it"


def proposed_entry(paths: list[str], wire: str, doc: str) -> dict[str, Any]:
    """Return the entry of a method.

    Args:
        paths: the capabilities of the method's side.
        wire: the method's name.
        doc: what the schema says about the method and its params.

    Raises:
        ValueError: several capabilities fit.
    """
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
