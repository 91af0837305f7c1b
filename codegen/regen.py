"""Generates the packages from the schemas. If one of them fails, none is written."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from codegen.data.check_facts import check_all_used
from codegen.data.facts_file import Tables
from codegen.data.renames import RENAMES_TOML, check_not_due, keep_old_names, read_package_version, read_renames
from codegen.data.resolve import attach_facts
from codegen.data.updates import attach_updates
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
from codegen.read.vocabulary import check_vocabulary, prepare

PACKAGE = "acp_bindings"


def read_schema(
    raw: dict[str, Any], own_tables: str | None, tables: Tables | None = None, *, checked: bool = True
) -> Schema:
    """Return the intermediate representation of a JSON schema.

    Args:
        raw: the schema.
        own_tables: the name of its own tables in `methods.toml`, such as `v1_unstable`; None adds no facts.
        tables: the content of `methods.toml`; by default it is read from the file.
        checked: whether the schema must have every capability that `methods.toml` names.
    """
    raw = prepare(raw)
    check_vocabulary(raw)
    schema = normalise(raw["$defs"])
    fill_defaults(schema)
    schema.methods = read_methods(raw, read_messages(raw))
    schema.envelopes = find_envelopes(schema)
    return add_facts(schema, own_tables, tables, checked=checked) if own_tables else schema


def add_facts(schema: Schema, own_tables: str, tables: Tables | None = None, *, checked: bool = True) -> Schema:
    """Return a schema with the facts of `methods.toml`. For the arguments, see `read_schema`."""
    schema = attach_facts(schema, own_tables, tables, checked=checked)
    return attach_updates(schema, own_tables, tables)


def render(schema_folder: Path, *, pinned: bool, version: str = "") -> dict[str, str]:
    """Return all generated files, formatted, by their paths in the package.

    Args:
        schema_folder: the folder of schemas.
        pinned: whether PINNED.json must list exactly these schemas, and `methods.toml` must fit them.
        version: the version of this package, which old names must outlive; by default that of pyproject.toml.
    """
    schemas: list[tuple[Profile, Schema]] = []
    for source in load(schema_folder, pinned=pinned):
        with name_in_errors(source.profile):
            schemas.append((source.profile, read_schema(source.schema, source.profile.own_tables)))
    if pinned:
        check_all_used(schemas, listed=True, before={})
    return render_schemas(schemas, version)


def render_schemas(schemas: list[tuple[Profile, Schema]], version: str = "") -> dict[str, str]:
    """Return the files that `render` returns, from schemas with the facts of `methods.toml`."""
    renames = read_renames(RENAMES_TOML)
    if renames:
        check_not_due(renames, version or read_package_version())
    files = emit_package([profile for profile, _ in schemas])
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
    old = read_files(output / PACKAGE)
    new = encode_files(files)
    return sorted(path for path in old.keys() | new.keys() if old.get(path) != new.get(path))


def check(schema_folder: Path, output: Path) -> str:
    """Return a unified diff from the committed packages to newly generated ones; empty if they are the same."""
    new = render(schema_folder, pinned=True)
    old = {path: content.decode("utf-8", "replace") for path, content in read_files(output / PACKAGE).items()}
    differing = find_differing_files(new, output)
    lines = [line for path in differing for line in _diff(path, old.get(path), new.get(path))]
    return "".join(f"{line}\n" for line in lines)


def _diff(path: str, old: str | None, new: str | None) -> Iterator[str]:
    """Return the lines of the diff of one file; None stands for a missing file."""
    return difflib.unified_diff(
        [] if old is None else old.split("\n"),
        [] if new is None else new.split("\n"),
        "/dev/null" if old is None else f"committed/{path}",
        "/dev/null" if new is None else f"regenerated/{path}",
        lineterm="",
    )


def encode_files(files: dict[str, str]) -> dict[str, bytes]:
    return {name: text.encode("utf-8") for name, text in files.items()}
