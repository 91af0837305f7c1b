"""Generates the packages from the schemas: all of them, or none if anything fails."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from codegen.data.facts_file import Table
from codegen.data.renames import RENAMES_TOML, check_not_due, keep_old_names, package_version, read_renames
from codegen.data.resolve import attach_facts
from codegen.data.unused_facts import check_all_used
from codegen.emit.formatting import format_files
from codegen.emit.modules import emit_package, emit_profile
from codegen.files import read_files, replace_folders
from codegen.ir import Schema
from codegen.pinned.pins import load
from codegen.pinned.profiles import Profile, name_in_errors
from codegen.read.defaults import fill_defaults
from codegen.read.envelopes import find_envelopes, read_messages
from codegen.read.methods import read_methods
from codegen.read.normalise import normalise
from codegen.read.vocabulary import canonicalise, check_vocabulary

PACKAGE = "acp_bindings"


def read_schema(raw: dict[str, Any], facts: str | None, table: Table | None = None) -> Schema:
    """Return the intermediate representation of a JSON schema.

    Args:
        raw: the schema.
        facts: its own tables in `methods.toml`, such as `v1` or `v1_unstable`; None leaves out the facts of that file.
        table: the content of `methods.toml`; by default that of the file.
    """
    raw = canonicalise(raw)
    check_vocabulary(raw)
    schema = normalise(raw["$defs"])
    fill_defaults(schema)
    schema.methods = read_methods(raw, read_messages(raw))
    schema.envelopes = find_envelopes(schema)
    return attach_facts(schema, facts, table) if facts else schema


def render(
    schema_folder: Path,
    *,
    pinned: bool,
    version: str = "",
    listed: bool = True,
    table: Table | None = None,
    before: Mapping[str, Schema] | None = None,
) -> dict[str, str]:
    """Return every file to generate, formatted, by its path in the package.

    Args:
        schema_folder: the folder of schemas.
        pinned: whether PINNED.json must list exactly these schemas, and `methods.toml` fit them.
        version: the version that old names must outlive; by default the present one of this package.
        listed: whether `methods.toml` must then have all methods; otherwise the others get the proposed facts.
        table: the content of `methods.toml`; by default that of the file.
        before: the schemas before an upgrade, by profile. What they have of the names in `methods.toml` must be kept.
    """
    pinned_profiles = load(schema_folder, pinned=pinned)
    renames = read_renames(RENAMES_TOML)
    if renames:
        check_not_due(renames, version or package_version())
    files = emit_package([pinned.profile for pinned in pinned_profiles])
    schemas: list[tuple[Profile, Schema]] = []
    for pinned_profile in pinned_profiles:
        with name_in_errors(pinned_profile.profile):
            schemas.append(
                (pinned_profile.profile, read_schema(pinned_profile.schema, pinned_profile.profile.facts, table))
            )
    if pinned:
        check_all_used(schemas, listed=listed, before=before or {})
    for profile, schema in schemas:
        with name_in_errors(profile):
            emitted = emit_profile(profile, keep_old_names(schema, profile.name, renames))
            files |= {f"{profile.name}/{name}": text for name, text in emitted.items()}
    return format_files(files)


def regenerate(schema_folder: Path, output: Path, *, pinned: bool = True) -> list[str]:
    """Write the packages of a folder of schemas to `output`. Nothing changes unless all of them are generated.

    Returns:
        The paths of the files that changed.

    Raises:
        SchemaError: a schema has something that the generator has no rule for.
    """
    files = render(schema_folder, pinned=pinned)
    differing = find_differing_files(files, output)
    if differing:
        replace_folders({output / PACKAGE: encode_files(files)})
    return differing


def find_differing_files(files: dict[str, str], output: Path) -> list[str]:
    """Return the paths of the files that differ between the package in `output` and these files."""
    present, new = read_files(output / PACKAGE), encode_files(files)
    return sorted(path for path in present.keys() | new.keys() if present.get(path) != new.get(path))


def check(schema_folder: Path, output: Path) -> str:
    """Return a unified diff from the committed packages to newly generated ones; empty if they are the same."""
    files = render(schema_folder, pinned=True)
    present = {path: content.decode("utf-8", "replace") for path, content in read_files(output / PACKAGE).items()}
    lines = [
        line for path in find_differing_files(files, output) for line in _diff(path, present.get(path), files.get(path))
    ]
    return "".join(f"{line}\n" for line in lines)


def _diff(path: str, old: str | None, new: str | None) -> Iterator[str]:
    """Return the lines of the diff of one file; None stands for a missing file."""
    before = "/dev/null" if old is None else f"committed/{path}"
    after = "/dev/null" if new is None else f"regenerated/{path}"
    old_lines, new_lines = ([] if text is None else text.split("\n") for text in (old, new))
    return difflib.unified_diff(old_lines, new_lines, before, after, lineterm="")


def encode_files(files: dict[str, str]) -> dict[str, bytes]:
    return {name: text.encode("utf-8") for name, text in files.items()}
