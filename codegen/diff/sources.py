"""Where the two sides of a comparison come from: a folder of schemas, a git ref that has `schema/`, or a checkout.

A git ref and a checkout other than this one are read with the `methods.toml` of their own.
"""

from __future__ import annotations

import io
import subprocess
import tarfile
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from codegen.diff.method_facts import METHODS, MethodFacts, read_facts
from codegen.errors import SchemaError
from codegen.ir import Schema
from codegen.pins import Pinned, load
from codegen.regen import understand

_SCHEMA = "schema"
# What a maintainer has accepted, beside the schemas it is about.
ACCEPTED = "accepted.toml"


class SourceError(Exception):
    """A side that can't be read: one sentence that says which and why."""


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
        found = load(folder, pinned=False)
        version = found[0].profile.version
        profiles = {each.profile.name: _snapshot(each, alone) for each in found}
        accepted = (folder / ACCEPTED).read_bytes() if (folder / ACCEPTED).is_file() else b""
    except SchemaError as error:
        raise SourceError(f"{label} can't be read: {error}") from error
    except OSError as error:
        raise SourceError(f"{label} can't be read: {error.strerror}.") from error
    return Side(label, version, profiles, accepted)


def _snapshot(pinned: Pinned, alone: bool) -> Snapshot:
    profile, raw = pinned.profile, pinned.schema
    try:
        return Snapshot(profile.file, raw, understand(raw, None if alone else profile.table))
    except SchemaError as error:
        error.source = error.source or profile.file
        raise


def extract(ref: str, repository: Path, target: Path, *paths: str) -> None:
    """Put what a git ref has at these paths below a folder.

    Raises:
        SourceError: there is no such ref, or it lacks one of the paths.
    """
    unknown = f"{ref!r} is neither a folder nor a git ref."
    if not ref or ref.startswith("-"):
        raise SourceError(unknown)
    _git(["rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}"], repository, unknown)
    missing = f"The commit {ref} doesn't have all of {', '.join(paths)}, so there is nothing to compare."
    archive = _git(["archive", "--format=tar", ref, "--", *paths], repository, missing)
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        tar.extractall(target, filter="data")


def has(ref: str, repository: Path, path: str) -> bool:
    """Whether a git ref has a file at a path."""
    return bool(_git(["ls-tree", ref, "--", path], repository, f"git can't list what {ref} has."))


def _facts(path: Path, label: str) -> MethodFacts:
    try:
        return read_facts(label, path.read_bytes() if path.is_file() else None)
    except ValueError as error:
        raise SourceError(f"{label} can't be read: {METHODS} is not TOML: {error}.") from error


def _git(arguments: list[str], repository: Path, failure: str) -> bytes:
    try:
        done = subprocess.run(["git", *arguments], cwd=repository, capture_output=True, check=False)
    except OSError as error:
        raise SourceError("git is needed to read a git ref, and it can't be run. Compare two folders.") from error
    if done.returncode:
        raise SourceError(failure)
    return done.stdout


def with_facts(profile: str, snapshot: Snapshot, facts: MethodFacts) -> Snapshot:
    """A profile with what `methods.toml` said at that commit."""
    methods = [facts.of(profile[:2], each, snapshot.raw["$defs"]) for each in snapshot.schema.methods]
    return replace(snapshot, schema=replace(snapshot.schema, methods=methods))
