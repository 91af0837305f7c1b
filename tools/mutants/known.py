"""The changes that are known: those that a test must notice, and those that change nothing."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tools.mutants.changes import Change
from tools.mutants.folders import HERE


@dataclass(frozen=True)
class Known:
    """A known change.

    Args:
        change: the change.
        tests: the tests that notice it.
        reason: why nothing can notice it.
    """

    change: Change
    tests: Sequence[str] = ()
    reason: str = ""


def read_survivors() -> list[Known]:
    """Return the changes that once survived, with the tests that notice them now."""
    return _read("survivors.toml")


def read_equivalent() -> list[Known]:
    """Return the changes after which the code does the same."""
    return _read("equivalent.toml")


def _read(name: str) -> list[Known]:
    data: dict[str, list[dict[str, Any]]] = tomllib.loads((HERE / name).read_text())
    return [
        Known(
            Change(
                file=entry["file"],
                function=entry.get("function", ""),
                text=entry["text"],
                old=entry["old"],
                new=entry["new"],
                nth=entry.get("nth", 0),
            ),
            tests=entry.get("tests", ()),
            reason=entry.get("reason", ""),
        )
        for entry in data.get("change", [])
    ]
