"""Changes of codegen's data files in an upgrade: adds entries for new methods, and finds what a person must look at.

New entries of `methods.toml` are marked for a person to confirm. The schema doesn't say what a capability unlocks, so a
new one that no method requires may need an entry as well. Old entries may no longer have an effect.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from acp_runtime.errors import RequestError
from codegen.data.facts_file import (
    FILE as METHODS,
    UPDATES,
    Entries,
    Tables,
    find_entries,
    find_place_entries,
    find_update_entries,
    parse_facts,
)
from codegen.data.renames import FILE as RENAMES, RENAMES_TOML, find_unused_renames, read_renames
from codegen.data.resolve import ADVERTISED_IN, find_capability_paths
from codegen.diff.compare.methods import find_renamed_methods
from codegen.diff.sources import Side, Snapshot
from codegen.errors import SchemaError
from codegen.ir import Alias, Method, Schema
from codegen.pinned.profiles import find_own_tables, find_version_tables
from codegen.toml import write_toml

_ERROR_CODES = "ErrorCode"
_MARK = " # to be confirmed"


def add_proposed_entries(text: str, head: Side) -> str:
    """Return the text of `methods.toml` with entries for the head's methods and kinds of updates that have none.

    Raises:
        SchemaError: two profiles propose different entries.
    """
    proposed: dict[tuple[str, str, str], dict[str, Any]] = {}
    for profile, snapshot in head.profiles.items():
        for method in snapshot.schema.methods:
            key = find_version_tables(profile), method.side, method.wire
            if not method.table and proposed.setdefault(key, method.entry) != method.entry:
                entries = " and ".join(map(write_toml, (proposed[key], method.entry)))
                message = (
                    f"{METHODS} has no entry for {method.wire}, and two profiles propose different ones: {entries}."
                )
                pointer = f"/$defs/{method.params}/x-method"
                raise SchemaError(pointer, message, snapshot.file, f"Add an entry to [{key[0]}.{method.side}].")
    for (version, side, wire), entry in proposed.items():
        text = _add_entry(text, f"[{version}.{side}]", wire, entry)
    kinds = dict.fromkeys(
        (find_version_tables(profile), kind)
        for profile, snapshot in head.profiles.items()
        for kind in snapshot.schema.unlisted_kinds
    )
    for version, kind in kinds:
        text = _add_entry(text, f"[{version}.{UPDATES}]", kind, {})
    return text


def add_renamed_entries(text: str, base: dict[str, Snapshot], head: dict[str, Snapshot]) -> str:
    """Return the text of `methods.toml` with copies of the entries of methods that were renamed."""
    tables = parse_facts(text.encode("utf-8"), METHODS)
    kept = {
        (find_version_tables(profile), method.wire)
        for profile, snapshot in head.items()
        for method in snapshot.schema.methods
    }
    copies: dict[tuple[str, str], dict[str, Any]] = {}
    for profile in base.keys() & head.keys():
        version = find_version_tables(profile)
        entries = partial(_find_entries, tables, find_own_tables(profile))
        if not all(map(entries, head[profile].schema.methods)):
            for old, new in find_renamed_methods(base[profile], head[profile]):
                copies |= {(name, new.wire): entry for name, entry in entries(old) if not entries(new)}
                if (version, old.wire) not in kept:
                    text = _rename_canceller(text, version, old.wire, new.wire)
    for (name, wire), entry in sorted(copies.items(), key=str):
        text = _add_entry(text, f"[{name}]", wire, entry)
    return text


def _rename_canceller(text: str, version: str, old: str, new: str) -> str:
    """Return the text with a new name of a cancelling notification in the entries of a version."""
    sections = text.split("\n[")
    return "\n[".join(
        section.replace(f'by = "{old}"', f'by = "{new}"') if section.startswith(version) else section
        for section in sections
    )


def _find_entries(tables: Tables, own_tables: str, method: Method) -> Entries:
    return find_entries(own_tables, method.side, method.wire, tables)


def _add_entry(text: str, table: str, wire: str, entry: dict[str, Any]) -> str:
    """Return the text with an entry at the end of a table. A missing table is added."""
    line = f"{write_toml(wire)} = {write_toml(entry)}{_MARK}"
    if f"\n{table}\n" not in text:
        text = f"{text}\n{table}\n"
    before, after = text.split(f"\n{table}\n")
    entries, gap, others = after.partition("\n\n")
    lines = "\n".join(filter(None, (table, entries.rstrip(), line)))
    return f"{before}\n{lines}{gap or chr(10)}{others}"


def find_unconfirmed(text: str) -> list[str]:
    """Return the entries that nobody has confirmed, after their tables."""
    entries: list[str] = []
    for table in text.split("\n["):
        name, *lines = table.split("\n")
        entries += (f"[{name} {line.removesuffix(_MARK)}" for line in lines if line.endswith(_MARK))
    return entries


def find_unused_entries(head: Side, tables: Tables) -> list[str]:
    """Return a line for each entry without effect: about methods of the head, places, updates and old names."""
    used = {(method.table, method.wire) for snapshot in head.profiles.values() for method in snapshot.schema.methods}
    of_methods: dict[tuple[str, str], None] = {}
    of_others: set[tuple[str, str]] = set()
    for profile, snapshot in head.profiles.items():
        own_tables, schemas = find_own_tables(profile), _find_same_version(head, profile)
        for method in snapshot.schema.methods:
            of_methods |= {(table, method.wire): None for table, _ in _find_entries(tables, own_tables, method)}
        for key, entries in find_place_entries(own_tables, tables).items():
            if not any(schema.places.get(key) for schema in schemas):
                of_others |= {(table, key) for table, _ in entries}
        for kind, entries in find_update_entries(own_tables, tables).items():
            used_tables = {schema.effects[kind].table for schema in schemas if kind in schema.effects}
            of_others |= {(table, kind) for table, _ in entries if table not in used_tables}
    unused = [*(entry for entry in of_methods if entry not in used), *sorted(of_others)]
    schemas_by_profile = {name: snapshot.schema for name, snapshot in head.profiles.items()}
    return [
        *(f"{METHODS}, [{table}] {json.dumps(name)}" for table, name in unused),
        *(f"{RENAMES}, {line}" for line in find_unused_renames(schemas_by_profile, read_renames(RENAMES_TOML))),
    ]


def _find_same_version(head: Side, profile: str) -> list[Schema]:
    version = find_version_tables(profile)
    return [snapshot.schema for name, snapshot in head.profiles.items() if find_version_tables(name) == version]


def find_codes_without_exception(head: Side) -> list[str]:
    """Return the head's error codes without an exception in the runtime, with the profiles that have them."""

    def codes(_profile: str, snapshot: Snapshot) -> list[Any]:
        definition = snapshot.schema.definitions.get(_ERROR_CODES)
        enum = definition.type.enum if isinstance(definition, Alias) else None
        return [code for code in (enum.values if enum else ()) if type(RequestError.of(code, "")) is RequestError]

    return _add_profiles(head, codes)


def find_unused_capabilities(base: Side, head: Side) -> list[str]:
    """Return the paths of new capabilities that no method of the head requires, with the profiles that have them.

    Capabilities below such a capability are left out.
    """

    def unused(profile: str, snapshot: Snapshot) -> list[str]:
        paths: list[str] = []
        if profile in base.profiles:
            properties = snapshot.schema.properties
            known = {*_find_paths(base.profiles[profile], properties), *_find_required_paths(snapshot.schema)}
            for path in _find_paths(snapshot, properties):
                if path not in known and not any(path.startswith(f"{above}.") for above in paths):
                    paths.append(path)
        return paths

    return _add_profiles(head, unused)


def _add_profiles(head: Side, find: Callable[[str, Snapshot], Iterable[Any]]) -> list[str]:
    """Return a line for each value that `find` returns for a profile, with the profiles that have it."""
    profiles_of: dict[Any, list[str]] = {}
    for profile, snapshot in head.profiles.items():
        for value in find(profile, snapshot):
            profiles_of.setdefault(value, []).append(profile)
    return [f"{value} ({', '.join(profiles)})" for value, profiles in profiles_of.items()]


def _find_required_paths(schema: Schema) -> Iterator[str]:
    """Yield the paths of all capabilities that messages require, and of the capabilities above them."""
    for method in schema.methods:
        facts = (*method.params_facts, *method.result_facts)
        for path in filter(None, (method.capability, *(fact.capability for fact in facts))):
            yield from itertools.accumulate(path.split("."), "{}.{}".format)


def _find_paths(snapshot: Snapshot, properties: dict[str, str]) -> Iterator[str]:
    """Yield the paths of all capabilities of both sides."""
    for side, message in ADVERTISED_IN.items():
        yield from find_capability_paths(snapshot.schema, message, properties.get(f"{side}_capabilities", ""))
