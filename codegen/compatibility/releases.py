"""The released schemas: the npm packages since 1.3.0, up to the pinned one. They are downloaded once, to `build/`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import groupby
from pathlib import Path

from codegen.files import read_files, replace_folders
from codegen.pinned.sources.npm import from_npm, npm_versions

PACKAGE = "@agentclientprotocol/sdk"
FIRST = "1.3.0"


def released_versions(latest: str | None) -> list[str]:
    """Return the versions in npm's registry from the first one up to the latest one, without prereleases."""
    versions = [each for each in npm_versions(PACKAGE) if re.fullmatch(r"[\d.]+", each)]
    newest = latest or max(versions, key=_parts)
    return sorted((each for each in versions if _parts(FIRST) <= _parts(each) <= _parts(newest)), key=_parts)


def released_schemas(version: str, folder: Path) -> Path:
    """Return the schemas of a release, from a folder that keeps them."""
    target = folder / version
    if not target.is_dir():
        replace_folders({target: from_npm(f"{PACKAGE}@{version}").schemas})
    return target


def group_by_schemas(versions: Iterable[str], schemas_of: Callable[[str], Path]) -> dict[str, Path]:
    """Return a folder of schemas by the versions in a row that have the same ones: one version, or "first to last"."""
    found: dict[str, Path] = {}
    for _, group in groupby(versions, lambda version: _schemas(schemas_of(version))):
        first, *others = group
        found[f"{first} to {others[-1]}" if others else first] = schemas_of(first)
    return found


def _schemas(folder: Path) -> dict[str, bytes]:
    return {name: content for name, content in read_files(folder).items() if name.endswith(".json")}


def _parts(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version)))
