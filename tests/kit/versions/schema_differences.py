"""The definitions in which the pinned schemas of version 1 and version 2 differ.

Run this as a program to note them, after `acp_kit.versions` has learned what has changed.
"""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

from acp_runtime.models.json_values import as_array, as_object
from tools.paths import ROOT

NOTED = Path(__file__).with_suffix(".json")
_TEXTS = ("$comment", "description", "examples", "title")


def differences() -> dict[str, str]:
    """Return the names of the definitions that differ, each with a digest of both."""
    old, new = _definitions("v1"), _definitions("v2")
    return {
        name: _digest(old.get(name), new.get(name)) for name in sorted({*old, *new}) if old.get(name) != new.get(name)
    }


def _definitions(version: str) -> dict[str, Any]:
    schema = json.loads((ROOT / "schema" / version / "schema.json").read_bytes())
    return {name: _without_texts(definition) for name, definition in schema["$defs"].items()}


def _without_texts(value: Any) -> Any:
    if (items := as_array(value)) is not None:
        return [_without_texts(item) for item in items]
    if (members := as_object(value)) is None:
        return value
    return {key: _without_texts(item) for key, item in members.items() if key not in _TEXTS or isinstance(item, dict)}


def _digest(old: Any, new: Any) -> str:
    return sha256(json.dumps([old, new], sort_keys=True).encode()).hexdigest()[:12]


if __name__ == "__main__":
    NOTED.write_text(json.dumps(differences(), indent=2) + "\n", "utf-8")
