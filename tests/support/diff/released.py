"""Released schemas as one side of a comparison. Each is read only once."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from codegen.diff.sources import Side, read_side
from tests.support.releases import schemas_of


@cache
def side_of(release: str) -> Side:
    """Return the schemas of a release."""
    return read_side(str(schemas_of(release)), Path.cwd())
