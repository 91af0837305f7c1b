"""Read the two sides of a comparison. Each is a folder of schemas, a checkout, or a git ref that contains `schema/`.

A git ref, or a checkout other than this one, is read with its own `methods.toml` and `renames.toml`.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from codegen.data.facts_file import Table
from codegen.data.renames import FILE as RENAMES, RENAMES_TOML, Rename, keep_old_names, parse_renames, read_renames
from codegen.diff.git import extract
from codegen.diff.method_facts import METHODS, MethodFacts
from codegen.errors import SchemaError, SourceError
from codegen.ir import Schema
from codegen.pinned.pins import Pinned, load
from codegen.pinned.profiles import PLACES, facts_of, find_files
from codegen.read.vocabulary import canonical
from codegen.regen import read_schema
from codegen.toml import parse_toml

SCHEMA = "schema"
# The findings that a maintainer has accepted. The file is next to the schemas of the head.
ACCEPTED = "accepted.toml"


@dataclass(frozen=True)
class Side:
    """One side of a comparison.

    Attributes:
        label: the folder or git ref as the user gave it.
        version: the release of its schema; empty if unknown.
        profiles: its profiles by name.
        accepted: the content of its accepted.toml; empty if it has none.
        notes: a sentence for each part that can't be read and so isn't compared.
    """

    label: str
    version: str
    profiles: dict[str, Snapshot]
    accepted: bytes = b""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Snapshot:
    """One profile of one side: the file, the JSON of its schema, and the intermediate representation."""

    file: str
    source: dict[str, Any]
    schema: Schema

    @cached_property
    def raw(self) -> dict[str, Any]:
        """The JSON in the form that the generator reads."""
        found: dict[str, Any] = canonical(self.source)
        return found


def read_side(where: str, repository: Path, table: Table | None = None) -> Side:
    """Read one side: a folder, or a git ref of a repository. `table`: the facts about a folder of schemas.

    Raises:
        SourceError: it is neither, or it can't be read.
    """
    folder = Path(where)
    if where and folder.is_dir():
        return _read_folder(folder, _folder_label(where, repository), repository, table)
    if where and folder.exists():
        raise SourceError(f"{where} is a file. Give the folder of schemas that contains it, or a git ref.")
    with tempfile.TemporaryDirectory(prefix="acp-diff-") as extracted:
        root = Path(extracted)
        extract(where, repository, root, SCHEMA, optional=(METHODS, RENAMES))
        return _read_checkout(root, where)


def _read_folder(folder: Path, label: str, repository: Path, table: Table | None) -> Side:
    """Read a folder of schemas or a checkout. This repository's own schemas are read as `make regen` reads them."""
    if not (folder / SCHEMA).is_dir():
        return _read_schemas(folder, label, table=table)
    if (folder / METHODS).is_file() and folder.resolve() != repository:
        return _read_checkout(folder, label)
    return _read_schemas(folder / SCHEMA, label)


def _read_checkout(folder: Path, label: str) -> Side:
    """Read the schemas of another commit with its own `methods.toml` and `renames.toml`."""
    side = _read_schemas(folder / SCHEMA, label, folder)
    path = folder / METHODS
    facts = MethodFacts(label, parse_toml(path.read_bytes(), f"{METHODS} of {label}") if path.is_file() else {})
    profiles = {
        name: replace(each, schema=facts.add_to(each.schema, facts_of(name))) for name, each in side.profiles.items()
    }
    return replace(side, profiles=profiles, notes=facts.notes)


def _folder_label(where: str, repository: Path) -> str:
    """Return the label of a folder: its path in the repository, or the path as given if it is elsewhere."""
    folder = Path(where).resolve()
    return f"{folder.relative_to(repository).as_posix()}/" if folder.is_relative_to(repository) else where


def _read_schemas(folder: Path, label: str, checkout: Path | None = None, table: Table | None = None) -> Side:
    """Read a folder of schemas.

    With the old names of a `checkout`, but without the facts of its `methods.toml`; otherwise with the old names and
    facts of this codegen's files.
    """
    try:
        if not find_files(folder):
            raise SourceError(f"{label} has no schema. Give a git ref, or a folder that contains {PLACES[0]}.")
        found = load(folder, pinned=False)
        version = found[0].profile.version
        renames = _read_renames(checkout)
        profiles = {each.profile.name: _snapshot(each, renames, table, has_facts=checkout is None) for each in found}
        accepted = (folder / ACCEPTED).read_bytes() if (folder / ACCEPTED).is_file() else b""
    except SchemaError as error:
        raise SourceError(f"{label} can't be read: {error}") from error
    except OSError as error:
        raise SourceError(f"{label} can't be read: {error.filename}: {error.strerror}.") from error
    return Side(label, version, profiles, accepted)


def _read_renames(checkout: Path | None) -> tuple[Rename, ...]:
    """Return the entries of a checkout's `renames.toml`, which older commits don't have, or those of this codegen's."""
    if checkout is None:
        return read_renames(RENAMES_TOML)
    path = checkout / RENAMES
    return parse_renames(path.read_bytes()) if path.is_file() else ()


def _snapshot(pinned: Pinned, renames: tuple[Rename, ...], table: Table | None, *, has_facts: bool) -> Snapshot:
    profile, raw = pinned.profile, pinned.schema
    try:
        schema = read_schema(raw, profile.facts if has_facts else None, table)
        return Snapshot(profile.file, raw, keep_old_names(schema, profile.name, renames))
    except SchemaError as error:
        error.name_source(profile.file)
        raise
