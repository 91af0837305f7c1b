"""The released schemas: the npm packages since 1.3.0, up to the pinned one. They are downloaded once, to `build/`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from codegen.files.folders import read_files, replace_folder
from codegen.pinned.sources.npm import from_npm, npm_versions

PACKAGE = "@agentclientprotocol/sdk"
FIRST = "1.3.0"


@dataclass(frozen=True)
class Released:
    """Releases in a row with the same schemas.

    Attributes:
        versions: their versions, the oldest first.
        folder: the schemas.
    """

    versions: tuple[str, ...]
    folder: Path

    @property
    def label(self) -> str:
        first, last = self.versions[0], self.versions[-1]
        return first if first == last else f"{first} to {last}"


def released_versions(latest: str | None) -> list[str]:
    """Return the versions in npm's registry from the first one up to the latest one, without prereleases."""
    versions = [each for each in npm_versions(PACKAGE) if re.fullmatch(r"[\d.]+", each)]
    newest = latest or max(versions, key=_parts)
    return sorted((each for each in versions if _parts(FIRST) <= _parts(each) <= _parts(newest)), key=_parts)


def released_schemas(version: str, folder: Path) -> Path:
    """Return the schemas of a release, from a folder that keeps them."""
    target = folder / version
    if not target.is_dir():
        replace_folder(target, from_npm(f"{PACKAGE}@{version}").schemas)
    return target


def group_by_schemas(versions: Iterable[str], schemas_of: Callable[[str], Path]) -> list[Released]:
    """Return the releases, with one entry for those in a row that have the same schemas."""
    found: list[Released] = []
    for version in versions:
        folder = schemas_of(version)
        if found and _schemas(found[-1].folder) == _schemas(folder):
            found[-1] = Released((*found[-1].versions, version), found[-1].folder)
        else:
            found.append(Released((version,), folder))
    return found


def _schemas(folder: Path) -> dict[str, bytes]:
    return {name: content for name, content in read_files(folder).items() if name.endswith(".json")}


def _parts(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version)))
