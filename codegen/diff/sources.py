"""Reads a side of a comparison: a folder of schemas, a checkout, or a git ref that contains `schema/`.

A git ref, or another checkout, is read with its own `methods.toml` and `renames.toml`.

`schema/accepted.toml` of the head has the findings that a maintainer has accepted, with reasons:

    [[accepted]]
    fingerprint = "0123456789ab"
    reason = "no known peer sends it"
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, StringConstraints

from codegen.data.facts_file import FILE as METHODS, Tables, parse_facts
from codegen.data.renames import FILE as RENAMES, RENAMES_TOML, Rename, keep_old_names, parse_renames, read_renames
from codegen.diff.git import extract
from codegen.errors import FileError, SchemaError, SourceError
from codegen.files import SCHEMA_FOLDER
from codegen.ir import Schema
from codegen.pinned.pins import Pinned, load
from codegen.pinned.profiles import PLACES, find_files, name_in_errors
from codegen.read.vocabulary import prepare
from codegen.regen import read_schema
from codegen.toml import Text, parse_toml, read_file, validate

ACCEPTED = "accepted.toml"


class _Accepted(BaseModel, extra="forbid"):
    fingerprint: Text
    reason: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class _AcceptedFile(BaseModel, extra="forbid"):
    accepted: tuple[_Accepted, ...] = ()


@dataclass(frozen=True)
class Side:
    """One side of a comparison.

    Attributes:
        label: the folder or git ref as the user gave it.
        version: the release of its schema; empty if unknown.
        profiles: its profiles by name.
        accepted: the content of its accepted.toml; empty if there is no such file.
        notes: sentences about what can't be read, and so isn't compared.
        unreadable: the names of profiles that the generator can't read.
    """

    label: str
    version: str
    profiles: dict[str, Snapshot]
    accepted: bytes = b""
    notes: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()

    @property
    def label_with_version(self) -> str:
        return f"{self.label} ({self.version})" if self.version else self.label

    def read_accepted(self) -> dict[str, str]:
        """Return the fingerprints of the accepted findings, with the reasons.

        Raises:
            FileError: the file is invalid.
        """
        next_step = "An entry of [[accepted]] needs a fingerprint and a reason, both as text."
        content = validate(_AcceptedFile, parse_toml(self.accepted, ACCEPTED), ACCEPTED, next_step)
        return {entry.fingerprint: entry.reason for entry in content.accepted}


@dataclass(frozen=True)
class Snapshot:
    """A profile of a side: the file of its schema, the JSON, and the intermediate representation."""

    file: str
    source: dict[str, Any]
    schema: Schema

    @cached_property
    def raw(self) -> dict[str, Any]:
        """The JSON as the generator reads it."""
        raw: dict[str, Any] = prepare(self.source)
        return raw


def read_side(where: str, repository: Path) -> Side:
    """Read a folder, or a git ref of a repository.

    Raises:
        SourceError: it is neither, or can't be read.
    """
    folder = Path(where)
    if where and folder.is_dir():
        resolved = folder.resolve()
        label = f"{resolved.relative_to(repository).as_posix()}/" if resolved.is_relative_to(repository) else where
        if not (folder / SCHEMA_FOLDER).is_dir():
            return _read_folder(folder, label)
        is_other_checkout = (folder / METHODS).is_file() and resolved != repository
        return _read_folder(folder / SCHEMA_FOLDER, label, folder if is_other_checkout else None)
    if where and folder.exists():
        raise SourceError(f"{where} is a file. Give the folder of schemas that contains it, or a git ref.")
    with tempfile.TemporaryDirectory(prefix="acp-diff-") as extracted:
        root = Path(extracted)
        extract(where, repository, root, SCHEMA_FOLDER, optional=(METHODS, RENAMES))
        return _read_folder(root / SCHEMA_FOLDER, where, root)


def _read_folder(folder: Path, label: str, checkout: Path | None = None) -> Side:
    """Read a folder of schemas, with the facts and old names of a checkout, or of this codegen.

    A profile that the generator can't read is left out, with a note, unless it is the only one.
    """
    try:
        if not find_files(folder):
            raise SourceError(f"{label} has no schema. Give a git ref, or a folder that contains {PLACES[0]}.")
        renames, notes = read_renames(RENAMES_TOML), list[str]()
        tables: Tables | None = None
        if checkout:
            renames = parse_renames(_read_optional(checkout / RENAMES))
            tables, notes = _read_methods(checkout, label)
        profiles: dict[str, Snapshot] = {}
        unreadable: dict[str, str] = {}
        sources = load(folder, pinned=False)
        for source in sources:
            name = source.profile.name
            try:
                profiles[name] = Snapshot(source.profile.file, source.schema, _read_schema(source, renames, tables))
            except SchemaError as error:
                if len(sources) == 1:
                    raise
                unreadable[name] = f"{name} is not compared, because its schema in {label} can't be read: {error}"
        accepted = _read_optional(folder / ACCEPTED)
    except SchemaError as error:
        raise SourceError(f"{label} can't be read: {error}") from error
    except OSError as error:
        raise SourceError(f"{label} can't be read: {error.filename}: {error.strerror}.") from error
    return Side(
        label=label,
        version=sources[0].profile.version,
        profiles=profiles,
        accepted=accepted,
        notes=(*notes, *unreadable.values()),
        unreadable=tuple(unreadable),
    )


def _read_methods(checkout: Path, label: str) -> tuple[Tables | None, list[str]]:
    """Return the `methods.toml` of a checkout; None, with a note, if it is missing or has another format."""
    try:
        return parse_facts(read_file(checkout / METHODS, METHODS), METHODS), []
    except FileError:
        return None, [f"{METHODS} of {label} is missing or can't be read, so the current one is used."]


def _read_schema(source: Pinned, renames: tuple[Rename, ...], tables: Tables | None) -> Schema:
    profile = source.profile
    with name_in_errors(profile):
        schema = read_schema(source.schema, profile.own_tables, tables, checked=False)
        return keep_old_names(schema, profile.name, renames)


def _read_optional(path: Path) -> bytes:
    """Return the content of a file; empty if there is no such file."""
    return path.read_bytes() if path.is_file() else b""
