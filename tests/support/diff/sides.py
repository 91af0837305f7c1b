"""Make sides of a comparison from small schemas."""

from __future__ import annotations

from codegen.diff.sources import Side, Snapshot
from codegen.regen import read_schema
from tests.support.codegen.build import Schema, acp_schema


def side(definitions: Schema, profile: str = "v1") -> Side:
    return side_of_schemas({profile: acp_schema(definitions)})


def side_of_schemas(schemas: dict[str, Schema], label: str = "", version: str = "") -> Side:
    """Return a side with whole schemas, by profile."""
    profiles = {name: Snapshot(f"{name}.json", raw, read_schema(raw, name[:2])) for name, raw in schemas.items()}
    return Side(label, version, profiles)
