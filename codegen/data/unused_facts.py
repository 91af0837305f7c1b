"""Checks that the pinned schemas have every property and value that `methods.toml` names, to find misspelt names.

A single schema may lack some of them, because the file covers every release. Entries of methods that no pinned schema
has are not checked.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from codegen.data.facts_file import FILE, SHARED, next_step_for_entry
from codegen.data.resolve import ADVERTISED_IN, CORRECT, Resolver
from codegen.errors import FileError, SchemaError
from codegen.ir import Method, Schema
from codegen.pinned.profiles import Profile, name_in_errors
from codegen.toml import SEE_TOP_OF_FILE
from codegen.types import Type
from codegen.values import fits


def check_all_used(schemas: Iterable[tuple[Profile, Schema]], *, listed: bool, before: Mapping[str, Schema]) -> None:
    """Check that every name in the file is used by a pinned schema.

    Args:
        schemas: the pinned schemas, with the facts of the file.
        listed: whether the file must have all their methods.
        before: the schemas before an upgrade, by profile.

    Raises:
        FileError: a schema lacks a property, a part or a tag that the file names, or it has lost one, or the file lacks
            a method.
    """
    schema_list = list(schemas)
    lacking = {profile: _find_absent(schema) for profile, schema in schema_list}
    for profile, schema in schema_list:  # first, because an upgrade can hold back a profile that fails here
        with name_in_errors(profile):
            _check_kept(profile, schema, before.get(profile.name))
    for profile, schema in schema_list:
        others = [absent for other, absent in lacking.items() if other.table == profile.table and other != profile]
        with name_in_errors(profile):
            _check_properties(profile, schema)
            for method in schema.methods:
                if listed and not method.table:
                    place = f"{FILE} [{profile.table}.{method.side}]"
                    raise FileError("", f"{place} has no entry for {method.wire!r}. Add one. {SEE_TOP_OF_FILE}")
                _check_result(schema, method)
                _check_names(profile, method, lacking[profile], others)


def _check_kept(profile: Profile, schema: Schema, before: Schema | None) -> None:
    """Check that a schema still has the names in entries that the one before an upgrade has."""
    old = {(method.side, method.wire, method.result is None): method for method in before.methods} if before else {}
    for method in schema.methods:
        other = old.get((method.side, method.wire, method.result is None))
        if before and other:
            was_missing = Resolver(before, profile.facts, schema.properties).find_missing(other, method.entry)
            for key, name in method.missing:
                if (key, name) not in was_missing:
                    raise _absent_name_error(profile, method, key, name, f"{profile.file} any more")


# What the entries of a schema name and the schema lacks, by the side and the name of their methods.
_Absent: TypeAlias = dict[tuple[str, str], set[tuple[str, str]]]


def _find_absent(schema: Schema) -> _Absent:
    """Return what entries name and a schema lacks. A request and a notification can share an entry."""
    absent_names: _Absent = {}
    for method in schema.methods:
        key, absent = (method.side, method.wire), set(method.missing)
        absent_names[key] = absent_names.get(key, absent) & absent
    return absent_names


def _check_names(profile: Profile, method: Method, lacking: _Absent, others: list[_Absent]) -> None:
    """Check that a schema has what an entry names. A stable one may lack what another one of its version has."""
    at = method.side, method.wire
    for key, name in sorted(lacking[at]):
        is_elsewhere = any(at in absent and (key, name) not in absent[at] for absent in others)
        if profile.is_unstable and is_elsewhere:
            raise _absent_name_error(profile, method, key, name, f"{profile.file}, unlike in another profile")
        if not is_elsewhere:
            raise _absent_name_error(profile, method, key, name, f"any pinned schema of {profile.table}")


def _absent_name_error(profile: Profile, method: Method, key: str, name: str, where: str) -> FileError:
    """Return the error about what an entry names and a schema lacks."""
    what = "part" if key == "content" else "property"
    names = f"`{key}` names {name!r}, but the method has no such {what} in {where}."
    return FileError(
        "", f"{FILE} [{method.table}] {method.wire!r}: {names} {next_step_for_entry(profile.facts, method.side)}"
    )


def _check_result(schema: Schema, method: Method) -> None:
    """Check that the result of a cancelled request is one."""
    _, text, _ = dict(method.facts).get("cancelled", ("", "", False))
    if text and not fits(schema, json.loads(text), Type("ref", method.result or "")):
        message = f"{FILE} {method.wire!r}: the result in `cancelled`, {text}, is not a {method.result}."
        raise SchemaError(f"/$defs/{method.result}", message, next_step=CORRECT)


def _check_properties(profile: Profile, schema: Schema) -> None:
    """Check that the messages concerned have the properties of `[<version>.properties]`."""
    params = [_property_names(schema, method.params) for method in schema.methods]
    opening = [
        _property_names(schema, name)
        for method in schema.methods
        if dict(method.facts).get("opens")
        for name in (method.params, method.result)
        if name
    ]
    wanted = [("session", params, any), ("version", opening, all)]
    for role, definition in ADVERTISED_IN.items():
        advertising = [_property_names(schema, definition)] if definition in schema.definitions else []
        wanted += [(f"{role}_{what}", advertising, all) for what in ("capabilities", "info")]
    for key, messages, enough in wanted:
        name = schema.properties[key]
        if messages and not enough(name in wires for wires in messages):
            missing = f"`{key}` is {name!r}, a property that the messages concerned don't have in {profile.file}"
            raise FileError(
                "", f"{FILE} [{profile.table}.{SHARED}]: {missing}. {next_step_for_entry(profile.facts, SHARED)}"
            )


def _property_names(schema: Schema, name: str) -> set[str]:
    """Return the properties of a definition; of a union, those of all its members."""
    return {field.wire for model in schema.concrete_models(name) for field in schema.fields(model.name)}
