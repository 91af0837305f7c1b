"""The schemas before and after an upgrade: of the last commit, and of the source."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from codegen.data.check_facts import check_all_used
from codegen.data.facts_file import FILE as METHODS, Tables, parse_facts
from codegen.data.renames import RENAMES_TOML, keep_old_names, read_renames
from codegen.diff import git
from codegen.diff.sources import ACCEPTED, Side, Snapshot
from codegen.errors import FileError, SchemaError, SourceError
from codegen.escaping import join_first
from codegen.files import GENERATED_FOLDER, SCHEMA_FOLDER, read_files, write_files
from codegen.pinned.fetch import prepare_fetch, read_source
from codegen.pinned.pins import PINS, load, read_pins
from codegen.pinned.profiles import STABLE, Profile, name_in_errors
from codegen.regen import add_facts, read_schema, render, render_schemas
from codegen.toml import read_file
from codegen.upgrade.changelog import PYPROJECT, read_version
from codegen.upgrade.data_files import add_renamed_entries

COMMIT = "HEAD"
_NO_COMMIT = "`make upgrade` compares with the last commit. Without a commit, use `make fetch` and `make regen`."
# An error names at most this many files.
_MAX_NAMES = 3


@dataclass(frozen=True)
class Schemas:
    """The schemas of both sides.

    Attributes:
        base: the folder of the last commit's schemas.
        head: the folder of the new schemas, which are not yet in the repository.
        source: where the new schemas are from.
        lines: a line for each file of a schema, which says how it changes.
        profiles: the new schemas by profile, with facts.
        package: the generated package.
        methods: the text of `methods.toml`, with copies of entries for renamed methods.
        unreadable: the profiles that keep their old schema because the new one can't be read, with the reason.
        version: the version of this package in the last commit.
    """

    base: Path
    head: Path
    source: str
    lines: list[str]
    profiles: dict[Profile, Snapshot]
    package: dict[str, str]
    methods: str
    unreadable: dict[str, str]
    version: str

    @property
    def old_source(self) -> str:
        source: str = read_pins(self.base / PINS)["source"]
        return source

    @property
    def is_pinned(self) -> bool:
        """Whether the new schemas and their source are those of the last commit."""
        return self.is_same and (self.base / PINS).read_bytes() == (self.head / PINS).read_bytes()

    @property
    def is_same(self) -> bool:
        """Whether the new schemas are those of the last commit. The source may differ."""
        old, new = (_drop_files(read_files(folder), PINS, ACCEPTED) for folder in (self.base, self.head))
        return old == new

    @property
    def notes(self) -> list[str]:
        """A sentence for each profile that keeps its old schema."""
        return [
            f"{profile} keeps its old schema, because the new one can't be read: {reason}"
            for profile, reason in self.unreadable.items()
        ]

    def to_side(self) -> Side:
        """Return the new schemas as a side of a comparison."""
        renames = read_renames(RENAMES_TOML)
        profiles = {
            profile.name: replace(snapshot, schema=keep_old_names(snapshot.schema, profile.name, renames))
            for profile, snapshot in self.profiles.items()
        }
        accepted = read_files(self.head).get(ACCEPTED, b"")
        return Side(f"{SCHEMA_FOLDER}/", next(iter(self.profiles)).version, profiles, accepted)


def fetch_schemas(source: str, repository: Path, temporary: Path) -> Schemas:
    """Generate the package from the schemas of a source. The schemas of both sides are written to a temporary folder.

    A profile keeps its old schema if the new one can't be read. The stable profile must be readable.

    Raises:
        FetchError: the source is not available or is not a schema.
        SchemaError: the stable profile can't be read.
        SourceError: there is no commit, or `schema/` or `generated/` has changes that the upgrade would overwrite.
    """
    changed = git.changed_files(
        repository, SCHEMA_FOLDER, GENERATED_FOLDER, f":!{SCHEMA_FOLDER}/{ACCEPTED}", next_step=_NO_COMMIT
    )
    git.extract(COMMIT, repository, temporary / "base", SCHEMA_FOLDER)
    base = temporary / "base" / SCHEMA_FOLDER
    version = read_version(git.show(COMMIT, repository, PYPROJECT))
    text = read_file(repository / METHODS, METHODS).decode("utf-8")
    before = _by_name(_read(base))
    release, unreadable = read_source(source), dict[str, str]()
    while True:  # until every profile can be read, or keeps its old schema
        fetched = prepare_fetch(release, base)
        head = temporary / f"head-{len(unreadable)}" / SCHEMA_FOLDER
        write_files(head, _drop_files(fetched.files, ACCEPTED))
        try:
            read = _read(head)
            methods = add_renamed_entries(text, before, _by_name(read))
            tables = parse_facts(methods.encode("utf-8"), METHODS)
            profiles = {profile: _attach_facts(profile, snapshot, tables) for profile, snapshot in read.items()}
            package = _render(base, before, profiles, tables, version)
            break
        except SchemaError as error:
            if error.profile in ("", STABLE, *unreadable):
                raise
            unreadable[error.profile] = str(error)
            release = release.without(error.profile)
    if changed and not _has_new_schemas(repository, base, head):
        names = join_first(changed, _MAX_NAMES)
        raise SourceError(f"Files have uncommitted changes: {names}. Commit or stash them, then upgrade again.")
    schemas = Schemas(
        base=base,
        head=head,
        source=fetched.source,
        lines=fetched.lines,
        profiles=profiles,
        package=package,
        methods=methods,
        unreadable=unreadable,
        version=version,
    )
    _keep_accepted(schemas, repository)
    return schemas


def _read(folder: Path) -> dict[Profile, Snapshot]:
    """Return the pinned schemas of a folder, without facts."""
    snapshots: dict[Profile, Snapshot] = {}
    for pinned in load(folder, pinned=True):
        with name_in_errors(pinned.profile):
            schema = read_schema(pinned.schema, None)
            snapshots[pinned.profile] = Snapshot(pinned.profile.file, pinned.schema, schema)
    return snapshots


def _by_name(snapshots: dict[Profile, Snapshot]) -> dict[str, Snapshot]:
    return {profile.name: snapshot for profile, snapshot in snapshots.items()}


def _attach_facts(profile: Profile, snapshot: Snapshot, tables: Tables) -> Snapshot:
    with name_in_errors(profile):
        return replace(snapshot, schema=add_facts(snapshot.schema, profile.own_tables, tables))


def _render(
    base: Path, before: dict[str, Snapshot], profiles: dict[Profile, Snapshot], tables: Tables, version: str
) -> dict[str, str]:
    """Generate the package from the new schemas."""
    old = {name: snapshot.schema for name, snapshot in before.items()}
    schemas = [(profile, snapshot.schema) for profile, snapshot in profiles.items()]
    try:
        check_all_used(schemas, listed=False, before=old, tables=tables)
        return render_schemas(schemas, version)
    except FileError as error:
        with suppress(SchemaError):
            # If the old schemas can be rendered, a file of codegen names something that the new ones no longer have.
            render(base, pinned=True, version=version)
            error.exit_code = SchemaError.exit_code
        raise


def _has_new_schemas(repository: Path, base: Path, head: Path) -> bool:
    """Return whether the repository has the new schemas already, from an earlier run."""
    files = _drop_files(read_files(repository / SCHEMA_FOLDER), ACCEPTED)
    return files == read_files(head) and files != _drop_files(read_files(base), ACCEPTED)


def _keep_accepted(schemas: Schemas, repository: Path) -> None:
    """Copy the accepted findings to the new schemas, unless they are about the last upgrade."""
    accepted, committed = (read_files(folder).get(ACCEPTED) for folder in (repository / SCHEMA_FOLDER, schemas.base))
    if accepted is not None and (schemas.is_same or accepted != committed):
        write_files(schemas.head, {ACCEPTED: accepted})  # its entries are about this upgrade
    elif accepted is not None:
        schemas.lines.append(f"removed   {ACCEPTED}")  # its entries were about the last one


def _drop_files(files: dict[str, bytes], *names: str) -> dict[str, bytes]:
    return {name: content for name, content in files.items() if name not in names}
