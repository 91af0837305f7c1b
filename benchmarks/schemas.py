"""Make schemas with more definitions than upstream's, to measure how the generator's time grows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from codegen.nodes import REF_PREFIX, Json, is_array, is_object


def grow(schema: Path, times: int) -> bytes:
    """Return a schema with this many copies of each definition that isn't a message. Copies refer to copies."""
    read: dict[str, Any] = json.loads(schema.read_bytes())
    definitions: dict[str, Any] = read["$defs"]
    copied = {name for name, each in definitions.items() if not any(key.startswith("x-") for key in each)}
    for number in range(1, times):
        renamed = {name: f"{name}Copy{number}" for name in copied}
        definitions |= {new: _renamed(definitions[name], renamed) for name, new in renamed.items()}
    return json.dumps(read).encode()


def _renamed(node: Json, names: dict[str, str]) -> Json:
    """Return a copy of a node with its references renamed."""
    if is_array(node):
        return [_renamed(each, names) for each in node]
    if not is_object(node):
        return node
    copy = {key: _renamed(value, names) for key, value in node.items()}
    target = str(copy.get("$ref", "")).removeprefix(REF_PREFIX)
    return {**copy, "$ref": REF_PREFIX + names[target]} if target in names else copy
