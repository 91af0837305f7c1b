"""Where the two sides of a comparison come from: a folder of schemas, or a git ref that has `schema/`."""

from __future__ import annotations

import io
import subprocess
import tarfile
import tempfile
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from codegen.errors import SchemaError
from codegen.ir import Method, Schema
from codegen.pins import load
from codegen.regen import understand

# What of a git ref says something about its protocol.
_SCHEMA, _METHODS = "schema", "codegen/methods.toml"
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
    """

    label: str
    version: str
    profiles: dict[str, Snapshot]
    accepted: bytes = b""


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
        return _read_folder(folder / _SCHEMA if (folder / _SCHEMA).is_dir() else folder, _called(where, repository))
    if where and folder.exists():
        raise SourceError(f"{where} is a file. Give the folder of schemas it is in, or a git ref.")
    with tempfile.TemporaryDirectory(prefix="acp-diff-") as extracted:
        extract(where, repository, Path(extracted), _SCHEMA, _METHODS)
        side = _read_folder(Path(extracted) / _SCHEMA, where)
        table = _table(Path(extracted) / _METHODS, where)
    return replace(side, profiles={name: with_table(name, each, table) for name, each in side.profiles.items()})


def _called(where: str, repository: Path) -> str:
    """A folder as the user gave it, without what only this machine knows if it is in the repository."""
    folder = Path(where).resolve()
    return f"{folder.relative_to(repository).as_posix()}/" if folder.is_relative_to(repository) else where


def _read_folder(folder: Path, label: str) -> Side:
    try:
        found = load(folder, pinned=False)
        version = found[0].profile.version
        profiles = {
            each.profile.name: Snapshot(each.profile.file, each.schema, understand(each.schema, each.profile.table))
            for each in found
        }
        accepted = (folder / ACCEPTED).read_bytes() if (folder / ACCEPTED).is_file() else b""
    except SchemaError as error:
        raise SourceError(f"{label} can't be read: {error}") from error
    except OSError as error:
        raise SourceError(f"{label} can't be read: {error.strerror}.") from error
    return Side(label, version, profiles, accepted)


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


def _table(path: Path, label: str) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise SourceError(f"{label} can't be read: {_METHODS} is not TOML: {error}.") from error


def _git(arguments: list[str], repository: Path, failure: str) -> bytes:
    try:
        done = subprocess.run(["git", *arguments], cwd=repository, capture_output=True, check=False)
    except OSError as error:
        raise SourceError("git is needed to read a git ref, and it can't be run. Compare two folders.") from error
    if done.returncode:
        raise SourceError(failure)
    return done.stdout


def with_table(profile: str, snapshot: Snapshot, table: dict[str, Any]) -> Snapshot:
    """A profile with what `methods.toml` said at that commit. What it didn't list is as it is listed today."""
    sides = table.get(profile[:2], {})
    methods = [_with_entry(each, sides.get(each.side, {}).get(each.wire)) for each in snapshot.schema.methods]
    return replace(snapshot, schema=replace(snapshot.schema, methods=methods))


def _with_entry(method: Method, entry: dict[str, Any] | None) -> Method:
    if entry is None:
        return method
    said = entry.get("content", {})
    content = tuple((part, said.get(part, capability)) for part, capability in method.content)
    return replace(method, capability=entry.get("capability"), baseline=entry.get("baseline", False), content=content)
