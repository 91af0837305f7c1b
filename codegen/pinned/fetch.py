"""Replaces the pinned schemas with those of another release: all of them, or none if anything fails.

Writes `schema/`: the schemas, their licence and PINNED.json. Each kind of source has a module that gets the files. The
generator need not be able to read the schemas.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codegen.errors import FetchError, SchemaError
from codegen.files import read_files, replace_folders
from codegen.nodes import is_object
from codegen.pinned.npm import read_npm_package
from codegen.pinned.pins import PINS, parse_json, read_pins, sha256
from codegen.pinned.profiles import PLACES
from codegen.pinned.release import Release, read_folder

SOURCES = "npm:<package>@<version or tag>, or a folder"
_LICENSE = "LICENSE"
_CHECK = "Nothing was changed. Check the source."


@dataclass(frozen=True)
class Fetched:
    """The new content of the folder of pinned schemas.

    Attributes:
        source: where the schemas are from, with a version instead of a tag.
        files: all files of the folder.
        lines: a line for each file, which says how it changes.
    """

    source: str
    files: dict[str, bytes]
    lines: list[str]


def read_source(source: str) -> Release:
    """Read the schemas of a source of any kind.

    Raises:
        FetchError: the source doesn't exist, or has no schema.
    """
    if not source:
        raise FetchError(
            f"The source is missing. Give {SOURCES}: FROM=npm:@agentclientprotocol/sdk@latest, for example."
        )
    if source.startswith("npm:"):
        return read_npm_package(source.removeprefix("npm:"))
    if Path(source).is_dir():
        return read_folder(Path(source))
    raise FetchError(f"{source} is not a source. Give {SOURCES}.")


def fetch(source: str, target: Path) -> list[str]:
    """Pin the schemas of a source.

    Args:
        source: `npm:<package>@<version or tag>`, or a folder (an unpacked package, or a folder of schemas).
        target: the folder of the pinned schemas.

    Returns:
        A line for each file, which says how it changed, and a line that says what is pinned now.

    Raises:
        FetchError: the source is not available, or not a schema. Nothing was changed.
        OSError: a file can't be read or written. Nothing was changed.
    """
    fetched = prepare_fetch(read_source(source), target)
    if fetched.files != read_files(target):
        replace_folders({target: fetched.files})
    return [*fetched.lines, f"{fetched.source} is pinned. Next, run `make regen`."]


def prepare_fetch(release: Release, target: Path) -> Fetched:
    """Return what `fetch` would write.

    Raises:
        FetchError: a file of the release is not a schema.
    """
    for file, content in release.schemas.items():
        _check_is_schema(file, content)
    old = read_files(target)
    kept = _keep_pins(old, release, target)
    new = {name: content for name, content in old.items() if name in kept or name not in PLACES}
    new |= release.schemas | _choose_license(old, release)
    new[PINS] = _write_pins(old, release, kept)
    return Fetched(release.source, new, _describe_changes(old, new, kept))


def _check_is_schema(file: str, content: bytes) -> None:
    """Check that a file is a JSON object with definitions and messages."""
    try:
        schema: Any = parse_json(content)
    except ValueError as error:
        raise FetchError(f"{file} is not JSON: {error}. It begins with {content[:30]!r}. {_CHECK}") from error
    if not is_object(schema) or not is_object(schema.get("$defs")) or not (schema["$defs"] and schema.get("anyOf")):
        expected = "an object with definitions in `$defs` and messages in `anyOf`"
        raise FetchError(f"{file} is not an ACP schema: expected {expected}. {_CHECK}")


def _keep_pins(old: dict[str, bytes], release: Release, target: Path) -> dict[str, dict[str, str]]:
    """Return the pins of the schemas that the release doesn't cover, with their own sources and versions."""
    files = [file for file in PLACES if file in old and file not in release.places]
    try:
        pins: Any = read_pins(target / PINS) if files else {}
    except SchemaError as error:
        raise FetchError(
            f"{release.source} has only some of the schemas, but the others can't be kept: {error}"
        ) from error
    for file in files:
        if pins["files"].get(file, {}).get("sha256") != sha256(old[file]):
            raise FetchError(
                f"{file} would be kept, but its hash is not the one in PINNED.json. Restore it with git first."
            )
    return {file: {"source": pins["source"], "version": pins["version"]} | pins["files"][file] for file in files}


def _choose_license(old: dict[str, bytes], release: Release) -> dict[str, bytes]:
    content = release.license_text or old.get(_LICENSE)
    return {_LICENSE: content} if content else {}


def _write_pins(old: dict[str, bytes], release: Release, kept: dict[str, dict[str, str]]) -> bytes:
    files = {file: {"sha256": sha256(content)} for file, content in release.schemas.items()} | kept
    pins = {
        "source": release.source,
        "version": release.version,
        "license": release.license or _read_pinned_license(old),
        "files": dict(sorted(files.items())),
    }
    return (json.dumps(pins, indent=2) + "\n").encode()


def _read_pinned_license(old: dict[str, bytes]) -> str:
    """Return the pinned licence, for sources without a package.json."""
    try:
        return str(parse_json(old[PINS])["license"])
    except (KeyError, TypeError, ValueError):
        return ""


def _describe_changes(old: dict[str, bytes], new: dict[str, bytes], kept: dict[str, dict[str, str]]) -> list[str]:
    files = sorted({*old, *new} & {*PLACES, _LICENSE})
    return [f"{'kept' if file in kept else _describe_change(old.get(file), new.get(file)):<10}{file}" for file in files]


def _describe_change(before: bytes | None, after: bytes | None) -> str:
    if before == after:
        return "unchanged"
    return "added" if before is None else "removed" if after is None else "changed"
