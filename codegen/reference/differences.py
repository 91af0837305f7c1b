"""Lists in what one profile differs from another, as `codegen.diff` finds it."""

from __future__ import annotations

from typing import Any

from codegen.diff.report import compare
from codegen.diff.sources import Side, Snapshot
from codegen.ir import Schema


def differences(base: Snapshot, head: Snapshot) -> dict[str, Any]:
    """Return what a profile has in comparison with another one: methods and types of only one of them, and changes.

    It is compared as if it were a later release of the other one.
    """
    old_types, new_types = _types(base.schema), _types(head.schema)
    old, new = ({each.wire: each for each in side.schema.methods} for side in (base, head))
    report = compare(Side("", "", {"v1": base}), Side("", "", {"v1": head}))
    both = (old_types & new_types) | (old.keys() & new.keys())
    return {
        "new_methods": [each for wire, each in new.items() if wire not in old],
        "missing_methods": [wire for wire in old if wire not in new],
        "new_types": sorted(new_types - old_types),
        "missing_types": sorted(old_types - new_types),
        "changes": [each for each in report.findings if each.place in both],
    }


def _types(schema: Schema) -> set[str]:
    return schema.definitions.keys() - schema.envelopes
