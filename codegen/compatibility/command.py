"""`python -m codegen compatibility`: write docs/project/compatibility.md, and return the exit code."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from codegen.compatibility.check import Result, check_old_code
from codegen.compatibility.page import compatibility_page
from codegen.compatibility.releases import PACKAGE, group_by_schemas, released_schemas, released_versions
from codegen.console import write_output
from codegen.diff.sources import Side, read_side
from codegen.pinned.pins import PINS, read_pins

REPOSITORY = Path(__file__).resolve().parents[2]


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
