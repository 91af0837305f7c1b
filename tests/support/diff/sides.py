"""Make sides of a comparison from small schemas."""

from __future__ import annotations

from codegen.diff.sources import Side, Snapshot
from codegen.regen import read_schema
from tests.support.codegen.build import Schema, acp_schema


def side(definitions: Schema, profile: str = "v1") -> Side:
    raw = acp_schema(definitions)
    return Side("", "", {profile: Snapshot(f"{profile}.json", raw, read_schema(raw, profile[:2]))})
