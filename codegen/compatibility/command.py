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
from codegen.diff.sources import read_side
from codegen.diff.verdict.rules import RULES
from codegen.emit.rendering import Templates
from codegen.escaping import code, join_first, plain
from codegen.files import read_files, replace_folders, write_output
from codegen.pinned.npm import npm_versions, read_npm_package
from codegen.pinned.pins import PINS, read_pins

REPOSITORY = Path(__file__).resolve().parents[2]
PACKAGE = "@agentclientprotocol/sdk"
FIRST = "1.3.0"
_TEMPLATES = Templates(
    Path(__file__).with_name("templates"), trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
)
# The page names at most this many things in a row.
_SHOWN = 5


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
    downloads = REPOSITORY / "build" / "releases"
    releases = group_by_schemas(released_versions(latest), lambda version: released_schemas(version, downloads))
    sides = [(label, read_side(str(folder), REPOSITORY)) for label, folder in releases.items()]
    results = check_old_code(sides, head, [REPOSITORY / "generated", REPOSITORY / "runtime"])
    page = compatibility_page(results, pins["version"])
    (REPOSITORY / "docs" / "project" / "compatibility.md").write_text(page, "utf-8")
    write_output("".join(f"{line}\n" for line in _lines(results)))
    return int(any(each.unpredicted for each in results))


def _lines(results: list[Result]) -> Iterator[str]:
    """Yield a line for each profile of each release, with the failures that no finding predicts."""
    for each in results:
        yield f"{each.release} {each.profile}: {each.uses - len(each.failed)} of {each.uses} uses survive"
        for failure in each.unpredicted:
            yield f"  {failure.file}: no finding predicts: {failure.message}"


def released_versions(latest: str | None) -> list[str]:
    """Return the versions in npm's registry from the first one up to the latest one, without prereleases."""
    versions = sorted((each for each in npm_versions(PACKAGE) if re.fullmatch(r"[\d.]+", each)), key=_numbers)
    return [each for each in versions if _numbers(FIRST) <= _numbers(each) <= _numbers(latest or each)]


def released_schemas(version: str, folder: Path) -> Path:
    """Return the schemas of a release, from a folder that keeps them."""
    target = folder / version
    if not target.is_dir():
        replace_folders({target: read_npm_package(f"{PACKAGE}@{version}").schemas})
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


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version)))


def compatibility_page(results: list[Result], pinned: str) -> str:
    """Render the page. `pinned` is the release that today's package is generated from."""
    profiles = sorted({each.profile for each in results})
    by_release = {label: list(mine) for label, mine in groupby(results, lambda each: each.release)}
    rows = [table_row(label, mine, profiles) for label, mine in by_release.items()]
    sections = {label: [section(each) for each in mine if each.failures] for label, mine in by_release.items()}
    return _TEMPLATES.render("compatibility.md.jinja", pinned=pinned, profiles=profiles, rows=rows, sections=sections)


def table_row(label: str, results: list[Result], profiles: Iterable[str]) -> str:
    """Return the row of a release: the share of uses that run, and of those that survive, for each profile."""
    by_profile = {each.profile: _shares(each) for each in results}
    return f"| {' | '.join((label, *(by_profile.get(name, '') for name in profiles)))} |"


def section(result: Result) -> str:
    """Return the details of one profile of one release."""
    return _TEMPLATES.render("failures.md.jinja", result=result, reasons=_reasons(result), plain=plain).strip("\n")


def _shares(result: Result) -> str:
    """Return the share of uses that run, and that of those that type-check too if it is another one."""
    survive = result.uses - len(result.failed)
    shares = [_share(survive + len(result.only_type_checked), result.uses), _share(survive, result.uses)]
    return " / ".join(dict.fromkeys(shares))


def _share(part: int, uses: int) -> str:
    """Return a share of the uses. It is rounded down, so that only all of them are 100 %."""
    return f"{1000 * part // uses / 10:g} %"


def _reasons(result: Result) -> list[tuple[str, int, str]]:
    """Return what changed, the number of uses that fail because of it, and where. The worst comes first."""
    uses: dict[str, set[str]] = {}
    subjects: dict[str, set[str]] = {}
    for failure, findings in result.failures.items():
        for finding in findings:
            uses.setdefault(finding.rule, set()).add(failure.file)
            subjects.setdefault(finding.rule, set()).update(finding.subjects)
    names = {rule: join_first([*map(code, sorted(found))], _SHOWN) for rule, found in subjects.items()}
    reasons = [(RULES[rule].sentence, len(uses[rule]), names[rule]) for rule in uses]
    return sorted(reasons, key=lambda each: (-each[1], each[0]))
