"""Where the two sides of a comparison come from: a folder of schemas, a git ref that has `schema/`, or a checkout.

A git ref and a checkout other than this one are read with the `methods.toml` of their own.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from codegen.diff.git import extract, has
from codegen.diff.method_facts import METHODS, MethodFacts, read_facts
from codegen.errors import SchemaError, SourceError
from codegen.ir import Schema
from codegen.pinned.pins import Pinned, load
from codegen.pinned.profiles import PLACES, find_files
from codegen.regen import read_schema

_SCHEMA = "schema"
# What a maintainer has accepted, beside the schemas it is about.
ACCEPTED = "accepted.toml"


@dataclass(frozen=True)
class Side:
    """One side: its profiles by name.

    Attributes:
        label: what the user called it.
        version: the release of its schema, where that is known.
        accepted: its accepted.toml; empty if it has none.
        notes: a sentence for each thing that can't be read and so isn't compared.
    """

    label: str
    version: str
    profiles: dict[str, Snapshot]
    accepted: bytes = b""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Snapshot:
    """A profile of one side: the JSON of its schema and what codegen makes of it."""

    file: str
    raw: dict[str, Any]
    schema: Schema


def read_side(where: str, repository: Path) -> Side:
    """Read a folder or a git ref of a repository.

    Raises:
        SourceError: it is neither, or it can't be read.
    """
    folder = Path(where)
    if where and folder.is_dir():
        return _read_folder(folder, _called(where, repository), repository)
    if where and folder.exists():
        raise SourceError(f"{where} is a file. Give the folder of schemas it is in, or a git ref.")
    with tempfile.TemporaryDirectory(prefix="acp-diff-") as extracted:
        root = Path(extracted)
        extract(where, repository, root, _SCHEMA)
        if has(where, repository, METHODS):
            extract(where, repository, root, METHODS)
        return _read_checkout(root, where)


def _read_folder(folder: Path, label: str, repository: Path) -> Side:
    """A folder of schemas, or of a checkout. Those of this repository are read as `make regen` reads them."""
    if not (folder / _SCHEMA).is_dir():
        return _read_schemas(folder, label)
    if (folder / METHODS).is_file() and folder.resolve() != repository:
        return _read_checkout(folder, label)
    return _read_schemas(folder / _SCHEMA, label)


def _read_checkout(folder: Path, label: str) -> Side:
    """The schemas of a commit, with what its own `methods.toml` says."""
    side = _read_schemas(folder / _SCHEMA, label, alone=True)
    facts = _facts(folder / METHODS, label)
    profiles = {name: with_facts(name, each, facts) for name, each in side.profiles.items()}
    return replace(side, profiles=profiles, notes=facts.notes)


def _called(where: str, repository: Path) -> str:
    """A folder as the user gave it, without what only this machine knows if it is in the repository."""
    folder = Path(where).resolve()
    return f"{folder.relative_to(repository).as_posix()}/" if folder.is_relative_to(repository) else where


def _read_schemas(folder: Path, label: str, *, alone: bool = False) -> Side:
    """A folder of schemas. `alone`: without what `methods.toml` adds."""
    try:
        if not find_files(folder):
            raise SourceError(f"There is no schema in {label}: give a git ref, or a folder with {PLACES[0]} in it.")
        found = load(folder, pinned=False)
        version = found[0].profile.version
        profiles = {each.profile.name: _snapshot(each, alone) for each in found}
        accepted = (folder / ACCEPTED).read_bytes() if (folder / ACCEPTED).is_file() else b""
    except SchemaError as error:
        raise SourceError(f"{label} can't be read: {error}") from error
    except OSError as error:
        raise SourceError(f"{label} can't be read: {error.filename}: {error.strerror}.") from error
    return Side(label, version, profiles, accepted)


def _snapshot(pinned: Pinned, alone: bool) -> Snapshot:
    profile, raw = pinned.profile, pinned.schema
    try:
        return Snapshot(profile.file, raw, read_schema(raw, None if alone else profile.table))
    except SchemaError as error:
        error.name_source(profile.file)
        raise


def _facts(path: Path, label: str) -> MethodFacts:
    try:
        return read_facts(label, path.read_bytes() if path.is_file() else None)
    except ValueError as error:
        raise SourceError(f"{label} can't be read: {METHODS} is not TOML: {error}.") from error


def with_facts(profile: str, snapshot: Snapshot, facts: MethodFacts) -> Snapshot:
    """A profile with what `methods.toml` said at that commit."""
    return replace(snapshot, schema=facts.of(profile[:2], snapshot.schema, snapshot.raw["$defs"]))
