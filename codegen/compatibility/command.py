"""`python -m codegen compatibility`: write docs/project/compatibility.md, and return the exit code.

The released schemas are the npm packages since 1.3.0, up to the pinned one. They are downloaded once, to `build/`.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from pathlib import Path

from codegen.compatibility.check import Result, check_old_code
from codegen.compatibility.page import compatibility_page
from codegen.diff.sources import Side, read_side
from codegen.files import read_files, replace_folders, write_output
from codegen.pinned.npm import from_npm, npm_versions
from codegen.pinned.pins import PINS, read_pins

REPOSITORY = Path(__file__).resolve().parents[2]
PACKAGE = "@agentclientprotocol/sdk"
FIRST = "1.3.0"


def run(_: argparse.Namespace) -> int:
    """Check the code of all releases up to the pinned one, and write the page.

    Returns:
        The exit code: 1 if no finding predicts a failure, otherwise 0.

    Raises:
        FetchError: a release can't be downloaded.
        SourceError: the code can't be checked.
    """
    pins = read_pins(REPOSITORY / "schema" / PINS)
    latest = pins["version"] if pins["source"].startswith(f"npm:{PACKAGE}@") else None
    head = read_side(str(REPOSITORY / "schema"), REPOSITORY)
    results = check_old_code(_released_sides(latest), head, [REPOSITORY / "generated", REPOSITORY / "runtime"])
    page = compatibility_page(results, pins["version"])
    (REPOSITORY / "docs" / "project" / "compatibility.md").write_text(page, "utf-8")
    write_output("".join(f"{line}\n" for line in _lines(results)))
    return int(any(each.unpredicted for each in results))


def _released_sides(latest: str | None) -> list[tuple[str, Side]]:
    """Return the schemas of all releases, each with the label of its row."""
    downloads = REPOSITORY / "build" / "releases"
    releases = group_by_schemas(released_versions(latest), lambda version: released_schemas(version, downloads))
    return [(label, read_side(str(folder), REPOSITORY)) for label, folder in releases.items()]


def _lines(results: list[Result]) -> Iterator[str]:
    """Yield a line for each profile of each release, with the failures that no finding predicts."""
    for each in results:
        yield f"{each.release} {each.profile}: {each.uses - len(each.failed)} of {each.uses} uses survive"
        for failure in each.unpredicted:
            yield f"  {failure.use}: no finding predicts: {failure.message}"


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
