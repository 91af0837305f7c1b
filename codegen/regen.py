"""Generates the packages from the schemas: all of them, or none if anything fails."""

from __future__ import annotations

import difflib
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from codegen.emit.formatting import formatted
from codegen.emit.modules import emit_package, emit_profile
from codegen.errors import SchemaError
from codegen.files.folders import read_files, replace_folder
from codegen.ir import Schema
from codegen.pinned.pins import load
from codegen.pinned.profiles import Profile
from codegen.read.canonical import canonical
from codegen.read.defaults import fill_defaults
from codegen.read.envelopes import find_envelopes, read_messages
from codegen.read.methods import read_methods, read_methods_without_facts, shared_properties
from codegen.read.normalise import normalise
from codegen.read.old_names import check_fitting, keep_old_names
from codegen.read.renames_file import RENAMES_TOML, check_not_due, package_version, read_renames
from codegen.read.topics import check_topics
from codegen.read.topics_file import read_topics
from codegen.read.unused_facts import check_all_used
from codegen.read.vocabulary import check_vocabulary

PACKAGE = "acp_bindings"


@contextmanager
def _naming_file(profile: Profile) -> Generator[None]:
    """Name the file of the profile's schema in errors."""
    try:
        yield
    except SchemaError as error:
        error.name_source(profile.file)
        raise


def read_schema(raw: dict[str, Any], version: str | None) -> Schema:
    """Return the intermediate representation of a JSON schema.

    Args:
        raw: the schema.
        version: its table in `methods.toml`, such as `v1`; None leaves out the facts of that file.
    """
    raw = canonical(raw)
    check_vocabulary(raw)
    schema = normalise(raw["$defs"])
    fill_defaults(schema)
    messages = read_messages(raw)
    schema.message_docs = messages.texts
    payloads = messages.payloads
    schema.methods = read_methods(raw, payloads, version) if version else read_methods_without_facts(raw, payloads)
    schema.properties = shared_properties(version) if version else {}
    schema.envelopes = find_envelopes(schema)
    return schema


def render(schema_folder: Path, *, pinned: bool, version: str = "") -> dict[str, str]:
    """Return every file to generate, formatted, by its path in the package.

    Args:
        schema_folder: the folder of schemas.
        pinned: whether PINNED.json must list exactly these schemas, and codegen's files fit them.
        version: the version that old names must outlive; by default the present one of this package.
    """
    found = load(schema_folder, pinned=pinned)
    renames = read_renames(RENAMES_TOML)
    if renames:
        check_not_due(renames, version or package_version())
    files = emit_package([each.profile for each in found])
    schemas: list[tuple[Profile, Schema]] = []
    for each in found:
        with _naming_file(each.profile):
            schemas.append((each.profile, read_schema(each.schema, each.profile.table)))
    if pinned:
        check_all_used((profile.table, schema) for profile, schema in schemas)
        by_profile = {profile.name: schema for profile, schema in schemas}
        check_topics(by_profile, read_topics())
        check_fitting(by_profile, renames)
    for profile, schema in schemas:
        with _naming_file(profile):
            emitted = emit_profile(profile, keep_old_names(schema, profile.name, renames))
            files |= {f"{profile.name}/{name}": text for name, text in emitted.items()}
    return formatted(files)


def regenerate(schema_folder: Path, output: Path, *, pinned: bool = True) -> list[str]:
    """Write the packages of a folder of schemas to `output`. Nothing changes unless everything succeeds.

    Returns:
        The paths of the files that changed.

    Raises:
        SchemaError: a schema has something that the generator has no rule for.
    """
    files = render(schema_folder, pinned=pinned)
    differing = differing_files(files, output)
    if differing:
        replace_folder(output / PACKAGE, encoded(files), outside=output)
    return differing


def differing_files(files: dict[str, str], output: Path) -> list[str]:
    """Return the paths of the files that differ between the package in `output` and these files."""
    return [path for path, _, _ in _differences(files, output / PACKAGE)]


def check(schema_folder: Path, output: Path) -> str:
    """Return a unified diff from the committed packages to newly generated ones; empty if they are the same."""
    differences = _differences(render(schema_folder, pinned=True), output / PACKAGE)
    return "".join(_diff(path, old, new) for path, old, new in differences)


def _diff(path: str, old: str | None, new: str | None) -> str:
    """Return the diff of one file. An empty file that was added or removed gives only the two header lines."""
    before = "/dev/null" if old is None else f"committed/{path}"
    after = "/dev/null" if new is None else f"regenerated/{path}"
    lines = list(difflib.unified_diff((old or "").splitlines(True), (new or "").splitlines(True), before, after))
    ended = [line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines]
    return "".join(ended) or f"--- {before}\n+++ {after}\n"


def _differences(files: dict[str, str], package: Path) -> list[tuple[str, str | None, str | None]]:
    """Return the present and the generated text of every path where they differ; None stands for a missing file."""
    present = read_files(package)
    found: list[tuple[str, str | None, str | None]] = []
    for path in sorted(files.keys() | present.keys()):
        old = present[path].decode("utf-8", "replace") if path in present else None
        if old != files.get(path):
            found.append((path, old, files.get(path)))
    return found


def encoded(files: dict[str, str]) -> dict[str, bytes]:
    return {name: text.encode("utf-8") for name, text in files.items()}
