"""Sides of a comparison: small schemas, and the schemas of releases."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from codegen.diff.report import Report, compare
from codegen.diff.sources import Side, Snapshot, read_side
from codegen.regen import read_schema
from tests.support.codegen.build import Schema, acp_schema
from tests.support.releases import schemas_of


def side(definitions: Schema, profile: str = "v1") -> Side:
    return side_of_schemas({profile: acp_schema(definitions)})


def side_of_schemas(schemas: dict[str, Schema], label: str = "", version: str = "") -> Side:
    """Return a side with whole schemas, by profile."""
    profiles = {name: Snapshot(f"{name}.json", raw, read_schema(raw, name[:2])) for name, raw in schemas.items()}
    return Side(label, version, profiles)


@cache
def side_of(release: str) -> Side:
    """Return the schemas of a release, which are read once."""
    return read_side(str(schemas_of(release)), Path.cwd())


@cache
def report_of(old: str, new: str) -> Report:
    return compare(side_of(old), side_of(new))
