"""Generated code is stable: a definition whose schema didn't change has no changed line."""

from __future__ import annotations

import ast
import json
from functools import cache

import pytest

from codegen.diff.sources import Snapshot
from codegen.emit.modules import emit_profile
from codegen.ir import Model, Schema
from codegen.pinned.profiles import Profile
from tests.support.diff.sides import side_of
from tests.support.releases import SAMPLE
from tests.support.scale import STRESS


def snapshots(release: str) -> dict[str, Snapshot]:
    return side_of(release).profiles


@cache
def code(release: str, profile: str) -> dict[str, str]:
    """Return the unformatted source of every definition, by name."""
    snapshot = snapshots(release)[profile]
    files = emit_profile(Profile(profile, snapshot.file, "", "", ""), snapshot.schema)
    return {
        name: "\n".join(source.splitlines()[node.lineno - 1 : node.end_lineno])
        for path, source in files.items()
        if path.startswith("models/")
        for node in ast.parse(source).body
        if (name := _name(node))
    }


def _name(node: ast.stmt) -> str:
    if isinstance(node, ast.ClassDef):
        return node.name
    return node.target.id if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) else ""


def is_unchanged(schema: Schema, name: str, same: set[str]) -> bool:
    """Return whether the schema of a definition and of its base classes is unchanged."""
    value = schema.definitions.get(name)
    if value is None:
        return False  # an inline member that only the other side has
    base = value.base if isinstance(value, Model) else None
    return value.pointer.split("/")[2] in same and (base is None or is_unchanged(schema, base, same))


@pytest.mark.test_all
@pytest.mark.slow
@pytest.mark.stress
@pytest.mark.xdist_group("releases")
@pytest.mark.parametrize("pair", SAMPLE, ids="..".join)
def test_an_unchanged_definition_has_no_changed_line(pair: tuple[str, str]) -> None:
    old, new = pair
    both = sorted(snapshots(old).keys() & snapshots(new).keys())
    changed = [name for name in both if snapshots(old)[name].raw != snapshots(new)[name].raw]
    for profile in changed if STRESS else changed[:1]:
        before, after = (snapshots(release)[profile] for release in pair)
        same = {
            name
            for name, definition in before.raw["$defs"].items()
            if json.dumps(definition) == json.dumps(after.raw["$defs"].get(name))
        }
        own = [
            name
            for name in after.schema.definitions.keys() - after.schema.envelopes
            if all(is_unchanged(side.schema, name, same) for side in (before, after))
        ]
        assert own
        assert {name: code(old, profile).get(name) for name in own} == {name: code(new, profile)[name] for name in own}
