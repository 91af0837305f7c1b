"""The schemas before and after an upgrade: those of the last commit, and those of the source."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from codegen.diff import git
from codegen.diff.sources import ACCEPTED
from codegen.errors import SourceError
from codegen.files.folders import read_files, write_files
from codegen.pinned.fetch import fetch_beside
from codegen.pinned.pins import PINS, read_pins

COMMIT = "HEAD"
SCHEMA, GENERATED = "schema", "generated"
_NO_COMMIT = "`make upgrade` compares with the last commit. Where there is none, use `make fetch` and `make regen`."
# An error names at most this many files.
_NAMED = 3


@dataclass(frozen=True)
class Schemas:
    """The schemas of both sides.

    Attributes:
        base: the folder of those of the last commit.
        head: the folder of the new ones, not yet in the repository.
        source: where the new ones are from.
        lines: the change to each file.
        again: whether the repository has the new ones already, because the command was run before.
    """

    base: Path
    head: Path
    source: str
    lines: list[str]
    again: bool

    @property
    def old_source(self) -> str:
        source: str = read_pins(self.base / PINS)["source"]
        return source

    @property
    def is_pinned(self) -> bool:
        """Whether the new ones are those of the last commit, with the same source."""
        return self.is_same and (self.base / PINS).read_bytes() == (self.head / PINS).read_bytes()

    @property
    def is_same(self) -> bool:
        """Whether the new ones are those of the last commit, from whatever source."""
        old, new = (_without(read_files(folder), PINS, ACCEPTED) for folder in (self.base, self.head))
        return old == new


def fetch_schemas(source: str, repository: Path, temporary: Path) -> Schemas:
    """Fetch the schemas of a source into a temporary folder, next to those of the last commit.

    Raises:
        FetchError: the source is not available or is not a schema.
        SourceError: there is no commit, or `schema/` or `generated/` has changes that the upgrade would overwrite.
    """
    changed = git.changed_files(repository, SCHEMA, GENERATED, f":!{SCHEMA}/{ACCEPTED}", otherwise=_NO_COMMIT)
    git.extract(COMMIT, repository, temporary / "base", SCHEMA)
    base, head = temporary / "base" / SCHEMA, temporary / "head" / SCHEMA
    fetched = fetch_beside(source, base)
    committed, present = read_files(base), read_files(repository / SCHEMA)
    new, found = _without(fetched.files, ACCEPTED), _without(present, ACCEPTED)
    again = found == new and found != _without(committed, ACCEPTED)
    if changed and not again:
        names = ", ".join(changed[:_NAMED]) + (f" and {len(changed) - _NAMED} more" if len(changed) > _NAMED else "")
        raise SourceError(f"Files have uncommitted changes: {names}. Commit or stash them, then upgrade again.")
    write_files(head, new)
    schemas = Schemas(base, head, fetched.source, fetched.lines, again)
    accepted = present.get(ACCEPTED)
    if accepted is not None and (schemas.is_same or accepted != committed.get(ACCEPTED)):
        write_files(head, {ACCEPTED: accepted})  # its entries are about this upgrade
    elif accepted is not None:
        schemas.lines.append(f"removed   {ACCEPTED}")  # its entries were about the last one
    return schemas


def _without(files: dict[str, bytes], *names: str) -> dict[str, bytes]:
    return {name: content for name, content in files.items() if name not in names}
