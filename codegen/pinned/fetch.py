"""Fetching: the schemas of another release in the place of the pinned ones, all of them or none.

Owns what becomes of `schema/`: its files, their licence and PINNED.json. Where files come from is
`codegen.pinned.sources`'; whether the generator has rules for all that is in them shows when it runs.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from codegen.errors import FetchError, SchemaError
from codegen.files.folders import read_files, replace_folder
from codegen.nodes import is_array, is_object
from codegen.pinned.pins import PINS, parse_json, read_pins, sha256
from codegen.pinned.profiles import ONE_FILE, PLACES, STABLE
from codegen.pinned.sources import read_source
from codegen.pinned.sources.release import Release

_LICENSE = "LICENSE"


def fetch(source: str, target: Path) -> list[str]:
    """Pin what a source has.

    Args:
        source: `npm:<package>@<version or tag>`, `github:<tag>`, a folder (an unpacked package, or a folder of
            schemas), or a file.
        target: the folder of the pinned schemas.

    Returns:
        What became of each file, and what is remarkable about the release, a line each.

    Raises:
        FetchError: if the source can't be had or is no schema; then nothing has changed.
    """
    try:
        release = read_source(source)
        for file, content in release.schemas.items():
            _check_is_schema(file, content)
        old = read_files(target)
        kept = _kept_pins(old, release, target)
        new = {name: content for name, content in old.items() if name in kept or name not in PLACES}
        new |= release.schemas | _license(old, release)
        new[PINS] = _pins(old, release, kept)
        if new != old:
            replace_folder(target, new)
    except OSError as error:
        raise FetchError(f"A file can't be read or written: {error.strerror} ({error.filename}).") from error
    return [*_changes(old, new, kept), *_remarks(new)]


def _check_is_schema(file: str, content: bytes) -> None:
    """A JSON object with definitions and messages."""
    try:
        found: Any = parse_json(content)
    except ValueError as error:
        raise FetchError(f"{file} is not JSON: {error}. It begins with {content[:30]!r}.") from error
    if not is_object(found):
        raise FetchError(f"{file} is no ACP schema: it is JSON, but no object.")
    messages, definitions = found.get("anyOf"), found.get("$defs")
    if not is_object(definitions) or not definitions:
        raise FetchError(f"{file} is no ACP schema: it has no definitions in `$defs`.")
    if not is_array(messages) or not messages or not all(map(is_object, messages)):
        raise FetchError(f"{file} is no ACP schema: it has no messages in `anyOf`.")


def _kept_pins(old: dict[str, bytes], release: Release, target: Path) -> dict[str, dict[str, str]]:
    """The pins of the schemas that the release says nothing about, each with where it is from."""
    files = [file for file in PLACES if file in old and file not in release.places]
    try:
        pins = read_pins(target / PINS) if files else {}
    except SchemaError as error:
        raise FetchError(
            f"{release.source} brings only some of the schemas, and the rest can't stay: {error}"
        ) from error
    for file in files:
        if pins["files"].get(file, {}).get("sha256") != sha256(old[file]):
            raise FetchError(f"{file} would stay, and is not what PINNED.json says. Restore it first.")
    return {file: {"source": pins["source"], "version": pins["version"]} | pins["files"][file] for file in files}


def _license(old: dict[str, bytes], release: Release) -> dict[str, bytes]:
    content = release.license_text or old.get(_LICENSE)
    return {_LICENSE: content} if content else {}


def _pins(old: dict[str, bytes], release: Release, kept: dict[str, dict[str, str]]) -> bytes:
    files = {file: {"sha256": sha256(content)} for file, content in release.schemas.items()} | kept
    pins = {
        "source": release.source,
        "version": release.version,
        "license": release.license or _pinned_license(old),
        "files": dict(sorted(files.items())),
    }
    return (json.dumps(pins, indent=2) + "\n").encode()


def _pinned_license(old: dict[str, bytes]) -> str:
    """The licence that was pinned before, which a source without a package.json doesn't say anew."""
    try:
        return str(parse_json(old[PINS])["license"])
    except (KeyError, TypeError, ValueError):
        return ""


def _changes(old: dict[str, bytes], new: dict[str, bytes], kept: dict[str, dict[str, str]]) -> list[str]:
    lines: list[str] = []
    for file in sorted({*old, *new} & {*PLACES, _LICENSE}):
        was, now = old.get(file), new.get(file)
        word = "added" if was is None else "removed" if now is None else "unchanged" if was == now else "changed"
        lines.append(f"{'kept' if file in kept else word:<10}{file}")
    return lines


def _remarks(new: dict[str, bytes]) -> list[str]:
    missing = [
        f"This release has no {file}, the stable schema of version {version}: there will be no acp_bindings.{profile}."
        for version, (file, profile) in STABLE.items()
        if file not in new
    ]
    one_file = f"{ONE_FILE} is version 1 with its unstable methods, in one file: it becomes acp_bindings.v1_unstable."
    return [*missing, *([one_file] if ONE_FILE in new else [])]
