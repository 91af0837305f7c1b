"""Adds the old names of `renames.toml` to a schema that was read: aliases of definitions, and old names of methods."""

from __future__ import annotations

import keyword
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from codegen.ir import Method, OldMethodName, OldName, Schema
from codegen.names import is_class_name, method_name
from codegen.read.methods import RESERVED_NAMES, not_inherited
from codegen.read.normalise import RESERVED
from codegen.read.renames_file import Rename


def keep_old_names(schema: Schema, profile: str, renames: Iterable[Rename]) -> Schema:
    """Return a schema with the old names of a profile. Entries that don't fit the schema have no effect.

    Raises:
        FileError: an old name can't be a name in Python, or something else has it.
    """
    fitting = [each for each in renames if profile in each.profiles and not _misfit(schema, each)]
    definitions = [each for each in fitting if each.kind == "definition"]
    methods = [each for each in fitting if each.kind == "method"]
    if not fitting:
        return schema
    taken = RESERVED_NAMES.union(
        (each.constant for each in schema.methods),
        (f"{role}.{each.name}" for each in schema.methods for role in each.handled_by),
    )
    kept = [_with_old_names(taken, method, methods) for method in schema.methods]
    return replace(schema, old_names=tuple(_old_definitions(schema, definitions)), methods=kept)


def unused_renames(schemas: Mapping[str, Schema], renames: Iterable[Rename]) -> list[str]:
    """Return a line for each entry that has no effect in one of its profiles, with the reason.

    That is no error: upstream may remove a definition, and other folders of schemas lack most of them.
    """
    found: list[str] = []
    for each in renames:
        for profile in each.profiles:
            problem = _misfit(schemas[profile], each) if profile in schemas else "no schema is pinned"
            if problem:
                found.append(f"{each.kind} {each.old!r}: In {profile}, {problem}.")
    return found


def _misfit(schema: Schema, rename: Rename) -> str:
    """Return why an entry doesn't fit a schema, as part of a sentence; empty if it does."""
    kind = rename.kind
    if kind == "method":
        names = {each.wire for each in schema.methods if each.side == rename.side}
        kind = f"method of side {rename.side!r}"
    else:
        names = set(schema.definitions)
    if rename.new not in names:
        return f"there is no {kind} {rename.new!r}"
    if rename.old in names:
        return f"there is a {kind} of the old name"
    return ""


def _old_definitions(schema: Schema, renames: list[Rename]) -> Iterator[OldName]:
    """Yield the old names of definitions, and those that the members of renamed unions had.

    A name that the schema uses for something else is not the old name of a member: upstream's definitions come first.
    """
    explicit = {each.old for each in renames}
    found: dict[str, str] = {}
    for rename in renames:
        if rename.old in RESERVED or not is_class_name(rename.old):
            raise rename.error(f"{rename.old!r} can't be the name of a class here. Correct `old`.")
        for name in _named_after(schema, rename.new):
            old = rename.old + name.removeprefix(rename.new)
            if name != rename.new and (old in explicit or old in schema.definitions or old in RESERVED):
                continue
            if found.setdefault(old, name) != name:
                raise rename.error(f"{old} would be an old name of both {found[old]} and {name}. Remove an entry.")
            yield OldName(old, name, rename.until)


def _named_after(schema: Schema, name: str) -> Iterator[str]:
    """Yield a definition and the inline members of unions that are named after it, nested ones included."""
    own = schema.definitions[name].pointer
    for each in schema.definitions.values():
        if each.name.startswith(name) and (each.pointer == own or each.pointer.startswith(f"{own}/")):
            yield each.name


def _with_old_names(taken: set[str], method: Method, renames: list[Rename]) -> Method:
    mine = [each for each in renames if (each.side, each.new) == (method.side, method.wire)]
    return replace(method, old_names=tuple(_old_name(taken, method, each) for each in mine)) if mine else method


def _old_name(taken: set[str], method: Method, rename: Rename) -> OldMethodName:
    """Return the old name of a method. A notification that shares its name with a request has a longer one.

    `taken` are the names in the method tables and on each role, to which the old one is added.
    """
    before, after = method_name(rename.old), method_name(rename.new)
    longer = "_notification" if method.name == f"{after}_notification" else ""
    name = not_inherited(before + longer)
    constant = before.upper() + method.constant.removeprefix(after.upper())
    if name == method.name:
        raise rename.error(f"Both names give {name!r} in Python, so that code needs no old name. Remove the entry.")
    if keyword.iskeyword(name) or not name.isidentifier():
        raise rename.error(f"It gives {name!r}, which can't be the name of a method. Correct `old`.")
    for each in (constant, *(f"{role}.{name}" for role in method.handled_by)):
        if each in taken:
            raise rename.error(f"It gives the name {each}, which something else has. Remove the entry.")
        taken.add(each)
    return OldMethodName(rename.old, name, constant, rename.until)
