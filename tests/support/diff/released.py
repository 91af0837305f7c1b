"""Released schemas as one side of a comparison. Each is read only once, and each pair is compared once."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from codegen.diff.report import Report, compare
from codegen.diff.sources import Side, read_side
from tests.support.releases import schemas_of


@cache
def side_of(release: str) -> Side:
    """Return the schemas of a release."""
    return read_side(str(schemas_of(release)), Path.cwd())


@cache
def report_of(old: str, new: str) -> Report:
    return compare(side_of(old), side_of(new))
