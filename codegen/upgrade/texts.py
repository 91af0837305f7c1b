"""The version of this package and the changelog after an upgrade."""

from __future__ import annotations

from pathlib import Path

from codegen.diff import git
from codegen.diff.report import Report
from codegen.errors import FileError
from codegen.upgrade import changelog, versions
from codegen.upgrade.entry import entry, release_name
from codegen.upgrade.schemas import COMMIT, Schemas


def version_before(repository: Path, *, again: bool) -> str:
    """Return the version of this package before the upgrade; `again`: an upgrade made before may have raised it."""
    text = git.show(COMMIT, repository, versions.FILE) if again else _read(repository, versions.FILE)
    return versions.read_version(text)


def version_after(repository: Path, before: str, bump: str) -> str:
    """Return the version that a recommended bump leads to."""
    tags = [tag.removeprefix("v") for tag in git.tags(repository) if tag.startswith("v")]
    released = [*tags, *changelog.released_versions(_read(repository, changelog.FILE))]
    return versions.next_version(before, released, bump)


def new_texts(repository: Path, schemas: Schemas, report: Report | None, version: str) -> dict[str, str]:
    """Return the texts of the files that change, by their names. Without a report, the schemas are the same."""
    old, new = release_name(schemas.old_source), release_name(schemas.source)
    before = {name: _read(repository, name) for name in (versions.FILE, changelog.FILE)}
    log = changelog.with_release(before[changelog.FILE], old, new)
    if report is not None and report.bump != "none":
        log = changelog.with_entry(log, version, entry(report, old, new))
    after = {versions.FILE: versions.with_version(before[versions.FILE], version), changelog.FILE: log}
    return {name: text for name, text in after.items() if text != before[name]}


def _read(repository: Path, name: str) -> str:
    try:
        return (repository / name).read_bytes().decode("utf-8")
    except (FileNotFoundError, UnicodeDecodeError) as error:
        raise FileError("", f"{name} is missing or isn't text. Restore it with git.") from error
