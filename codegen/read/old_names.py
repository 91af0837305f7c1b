"""Adds the old names of `renames.toml` to a schema that was read: aliases of definitions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from codegen.ir import OldName, Schema
from codegen.names import is_class_name
from codegen.read.normalise import RESERVED
from codegen.read.renames_file import Rename


def keep_old_names(schema: Schema, profile: str, renames: Iterable[Rename]) -> Schema:
    """Return a schema with the old names of a profile. Entries that don't fit the schema have no effect.

    Raises:
        FileError: an old name can't be a name in Python, or something else has it.
    """
    fitting = [rename for rename in renames if profile in rename.profiles and not _misfit(schema, rename)]
    return replace(schema, old_names=tuple(_old_definitions(schema, fitting)))


def unused_renames(schemas: Mapping[str, Schema], renames: Iterable[Rename]) -> list[str]:
    """Return a line for each entry that has no effect in one of its profiles, with the reason.

    That is no error: upstream may remove a definition, and other folders of schemas lack most of them.
    """
    found: list[str] = []
    for each in renames:
        for profile in each.profiles:
            problem = _misfit(schemas[profile], each) if profile in schemas else "no schema is pinned"
            if problem:
                found.append(f"definition {each.old!r}: In {profile}, {problem}.")
    return found


def _misfit(schema: Schema, rename: Rename) -> str:
    """Return why an entry doesn't fit a schema, as part of a sentence; empty if it does."""
    if rename.new not in schema.definitions:
        return f"there is no definition {rename.new!r}"
    if rename.old in schema.definitions:
        return "there is a definition of the old name"
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
