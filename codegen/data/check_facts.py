"""Checks that the pinned schemas have every name in `methods.toml`, to find misspelt names.

A single schema may lack some of the names, because the file covers every release. Entries of methods that no pinned
schema has are not checked.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from codegen.data.check_updates import find_mistake
from codegen.data.facts_file import (
    EFFECTS,
    FILE,
    MAY_BE_MISSING,
    NEWER,
    NEXT,
    PLACES,
    SHARED,
    UPDATES,
    Tables,
    find_may_be_missing,
    find_newer,
    find_place_entries,
    find_update_entries,
    next_step_for_entry,
)
from codegen.data.place_facts import find_place_keys
from codegen.data.places import Places
from codegen.data.resolve import ADVERTISED_IN, CORRECT, Resolver, fields_by_wire
from codegen.data.updates import METHOD, PROPERTY, find_kinds
from codegen.errors import FileError, SchemaError
from codegen.ir import Method, Schema
from codegen.pinned.profiles import Profile, find_version_tables, name_in_errors
from codegen.toml import SEE_TOP_OF_FILE
from codegen.types import Type
from codegen.values import fits


def check_all_used(
    schemas: Iterable[tuple[Profile, Schema]],
    *,
    listed: bool,
    before: Mapping[str, Schema],
    tables: Tables | None = None,
) -> None:
    """Check that the pinned schemas use every name in the file.

    Args:
        schemas: the pinned schemas, with the facts of the file.
        listed: whether the file must list all their methods.
        before: the schemas before an upgrade, by profile.
        tables: the content of the file; by default it is read.

    Raises:
        FileError: a schema lacks or has lost a property, a part or a tag that the file names, or the file lacks a
            method or a kind of update.
    """
    schemas = list(schemas)
    missing_names = {profile: _find_missing(schema) for profile, schema in schemas}
    for profile, schema in schemas:  # first, because an upgrade can keep the old schema of a profile that fails here
        with name_in_errors(profile):
            if profile.name in before:
                _check_kept(profile, schema, before[profile.name])
    for profile, schema in schemas:
        version = profile.version_tables
        same_version = [other_schema for other, other_schema in schemas if other.version_tables == version]
        missing_elsewhere = [
            missing for other, missing in missing_names.items() if other.version_tables == version and other != profile
        ]
        with name_in_errors(profile):
            _check_properties(profile, schema)
            _check_newer(profile, schema, find_newer(profile.own_tables, tables))
            _check_may_be_missing(schema, find_may_be_missing(profile.own_tables, tables))
            _check_places(profile, schema, same_version)
            old = [old for name, old in before.items() if find_version_tables(name) == version]
            _check_updates(profile, schema, same_version, old, listed=listed, tables=tables)
            for method in schema.methods:
                if listed and not method.table:
                    place = f"{FILE} [{version}.{method.side}]"
                    next_step = f"Add one, or run `make upgrade`, which proposes one. {SEE_TOP_OF_FILE}"
                    raise FileError("", f"{place} has no entry for {method.wire!r}. {next_step}")
                _check_result(schema, method)
                _check_names(profile, method, missing_names[profile], missing_elsewhere)


def _check_kept(profile: Profile, schema: Schema, before: Schema) -> None:
    """Check that an upgrade keeps the names that entries use."""
    where = f"{profile.file} any more"
    if missing := _find_missing_places(schema):
        old_keys = find_place_keys(before, Places(before))
        for key in (key for key in missing if key in old_keys):
            raise _missing_place_error(profile, key, where)
    old_methods = {method.key: method for method in before.methods}
    resolver = Resolver(before, profile.own_tables, schema.properties)
    for method in schema.methods:
        if old := old_methods.get(method.key):
            was_missing = resolver.find_missing(old, method.entry)
            for key, name in (names for names in method.missing if names not in was_missing):
                raise _missing_name_error(profile, method, key, name, where)


# The names in entries that a schema lacks, by the side and the wire name of the method.
_Missing: TypeAlias = dict[tuple[str, str], set[tuple[str, str]]]


def _find_missing(schema: Schema) -> _Missing:
    """Return the names in entries that a schema lacks. A request and a notification can share an entry."""
    missing: _Missing = {}
    for method in schema.methods:
        names = set(method.missing)
        key = method.side, method.wire
        missing[key] = missing.get(key, names) & names
    return missing


def _check_names(profile: Profile, method: Method, missing: _Missing, missing_elsewhere: list[_Missing]) -> None:
    """Check that a schema has the names in an entry. A stable schema may lack what another one of its version has."""
    side_and_wire = method.side, method.wire
    for key, name in sorted(missing[side_and_wire]):
        is_elsewhere = any(
            side_and_wire in other and (key, name) not in other[side_and_wire] for other in missing_elsewhere
        )
        if profile.is_unstable and is_elsewhere:
            raise _missing_name_error(profile, method, key, name, f"{profile.file}, unlike in another profile")
        if not is_elsewhere:
            raise _missing_name_error(profile, method, key, name, f"any pinned schema of {profile.version_tables}")


def _check_places(profile: Profile, schema: Schema, same_version: list[Schema]) -> None:
    """Check that a schema has the places that the file names. A stable schema may lack what another one has.

    Places in definitions that no schema has are not checked.
    """
    for key in _find_missing_places(schema):
        is_elsewhere = any(other.places.get(key) for other in same_version)
        if not is_elsewhere and key.partition(".")[0] in schema.definitions:
            raise _missing_place_error(profile, key, f"any pinned schema of {profile.version_tables}")
        if is_elsewhere and profile.is_unstable:
            raise _missing_place_error(profile, key, f"{profile.file}, unlike in another profile")


def _find_missing_places(schema: Schema) -> list[str]:
    return [key for key, is_present in schema.places.items() if is_present is False]


def _missing_place_error(profile: Profile, key: str, where: str) -> FileError:
    table = find_place_entries(profile.own_tables)[key][0][0]
    sentence = f"There is no such place in the messages of {where}."
    next_step = f"{next_step_for_entry(profile.own_tables, PLACES)[:-1]}, and there an empty one for this place."
    return FileError("", f"{FILE} [{table}] {key!r}: {sentence} {next_step}")


def _check_updates(
    profile: Profile,
    schema: Schema,
    same_version: list[Schema],
    old: list[Schema],
    *,
    listed: bool,
    tables: Tables | None,
) -> None:
    """Check that the file has exactly the kinds of updates of a schema, and that the schema has the names in entries.

    Kinds that an upgrade removes are not mistakes: `find_unused_entries` finds them. `old` are the schemas before it.
    """
    if listed and schema.unlisted_kinds:
        kind = schema.unlisted_kinds[0]
        place = f"{FILE} [{profile.version_tables}.{UPDATES}]"
        raise FileError("", f"{place} has no entry for the update {kind!r}. Say what it does. {SEE_TOP_OF_FILE}")
    next_step = next_step_for_entry(profile.own_tables, UPDATES)
    entries_by_kind = find_update_entries(profile.own_tables, tables)
    has_method = any(method.wire == METHOD for method in schema.methods)
    if entries_by_kind and has_method and not find_kinds(schema):
        sentence = f"{METHOD} has no union of updates in its property {PROPERTY!r} in {profile.file}."
        raise FileError("", f"{FILE} [{profile.version_tables}.{UPDATES}]: {sentence} Correct codegen/data/updates.py.")
    for kind, effect in schema.effects.items():
        for key, name in effect.missing:
            lacking = "no update has such a thing" if key in EFFECTS and key != "sets" else "there is no such property"
            sentence = f"`{key}` names {name!r}, but {lacking} in {profile.file}."
            raise FileError("", f"{FILE} [{effect.table}] {kind!r}: {sentence} {next_step}")
    if mistake := find_mistake(schema):
        kind, sentence = mistake
        raise FileError("", f"{FILE} [{schema.effects[kind].table}] {kind!r}: {sentence} {next_step}")
    known = {kind for other in (*same_version, *old) for kind in find_kinds(other)}
    for kind, entries in entries_by_kind.items():
        if known and kind not in known and schema is same_version[-1] and NEXT not in entries[-1][0]:
            version = profile.version_tables
            raise FileError(
                "",
                f"{FILE} [{entries[-1][0]}] {kind!r}: There is no such update in {METHOD} of any pinned schema of "
                f"{version}. Correct or remove the entry, or move it to [{version}{NEXT}.{UPDATES}].",
            )


def _missing_name_error(profile: Profile, method: Method, key: str, name: str, where: str) -> FileError:
    sentence = f"`{key}` names {name!r}, but the method has no such property in {where}."
    next_step = next_step_for_entry(profile.own_tables, method.side)
    return FileError("", f"{FILE} [{method.table}] {method.wire!r}: {sentence} {next_step}")


def _check_result(schema: Schema, method: Method) -> None:
    """Check that the result of a cancelled request is a valid result of the method."""
    text = method.cancelled.result if method.cancelled else ""
    if text and not fits(schema, json.loads(text), Type("ref", method.result or "")):
        message = f"{FILE} {method.wire!r}: the result in `cancelled`, {text}, is not a {method.result}."
        raise SchemaError(f"/$defs/{method.result}", message, next_step=CORRECT)


def _check_properties(profile: Profile, schema: Schema) -> None:
    """Check that the messages have the properties that `[<version>.properties]` names."""
    opening = [method for method in schema.methods if method.facts.get("opens")]
    # The messages that may have each property, and whether one or all of them must have it.
    messages: dict[str, tuple[list[str | None], Callable[[Iterable[bool]], bool]]] = {
        "session": ([method.params for method in schema.methods], any),
        "version": ([name for method in opening for name in (method.params, method.result)], all),
    }
    for role, definition in ADVERTISED_IN.items():
        present = [definition] if definition in schema.definitions else []
        messages |= {f"{role}_capabilities": (list(present), all), f"{role}_info": (list(present), all)}
    for key, (names, any_or_all) in messages.items():
        wire = schema.properties[key]
        properties = [_find_properties(schema, name) for name in names if name]
        if properties and not any_or_all(wire in message for message in properties):
            raise FileError(
                "",
                f"{FILE} [{profile.version_tables}.{SHARED}]: `{key}` is {wire!r}, but in {profile.file}, the messages "
                f"that should have this property don't have it. {next_step_for_entry(profile.own_tables, SHARED)}",
            )


def _check_newer(profile: Profile, schema: Schema, newer: Mapping[str, Any]) -> None:
    """Check that what replaces a client's capabilities and its name fits the schema."""
    fields = fields_by_wire(schema, ADVERTISED_IN["client"])
    for key, part in (("without", "client_capabilities"), ("unknown_info", "client_info")):
        field = fields.get(schema.properties[part])
        if field and key in newer and not fits(schema, newer[key], field.type, strict=True):
            place = f"{FILE} [{profile.version_tables}.{NEWER}]: `{key}`"
            raise FileError("", f"{place} does not fit {schema.properties[part]!r} in {profile.file}. {CORRECT}")


def _check_may_be_missing(schema: Schema, names: Iterable[str]) -> None:
    """Check that the schema requires the lists that a peer may leave out. It may lack their definitions."""
    for name in names:
        definition, _, wire = name.partition(".")
        fields = schema.fields(definition) if definition in schema.definitions else None
        if fields is not None and not any(f.wire == wire and "DefaultOnMissing" in f.markers for f in fields):
            message = f"{FILE} `{MAY_BE_MISSING}` names {name}, but there is no such required list here."
            raise SchemaError(f"/$defs/{definition}", message, next_step=CORRECT)


def _find_properties(schema: Schema, name: str) -> set[str]:
    """Return the properties of a definition, or of all members of a union."""
    return {field.wire for model in schema.concrete_models(name) for field in schema.fields(model.name)}
