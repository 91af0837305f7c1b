"""Resolves what `methods.toml` says about the kinds of updates, and checks it against a schema.

The kinds are the tags of the union in `session/update`. The file covers every release, so an entry that names something
that this schema doesn't have is dropped, and its names are in `Effect.missing`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from codegen.data.facts_file import EFFECTS, Entries, Tables, find_update_entries
from codegen.data.resolve import fields_by_wire
from codegen.facts import Effect
from codegen.ir import Field, Schema, Union
from codegen.names import pascal

METHOD, PROPERTY = "session/update", "update"
# Stands for the whole update where an entry names a property.
WHOLE = "*"


def attach_updates(schema: Schema, own_tables: str, tables: Tables | None = None) -> Schema:
    """Return a schema with what its kinds of updates do. For the arguments, see `find_shared_properties`."""
    entries = find_update_entries(own_tables, tables)
    kinds = find_kinds(schema)
    resolver = _Resolver(schema, kinds, entries)
    effects = {kind: resolver.resolve(kind) for kind in kinds if kind in entries}
    return replace(schema, effects=effects, unlisted_kinds=tuple(kind for kind in kinds if kind not in entries))


def find_kinds(schema: Schema) -> dict[str, str]:
    """Return the definition of each kind of update, by its tag."""
    params = [method.params for method in schema.methods if method.wire == METHOD]
    fields = [fields_by_wire(schema, name).get(PROPERTY) for name in params]
    unions = [schema.definitions.get(field.type.non_null.name) for field in fields if field]
    return {
        member.tag: member.name
        for union in unions
        if isinstance(union, Union)
        for member in union.members
        if member.tag is not None
    }


def find_fields(schema: Schema, definition: str, path: str) -> list[Field]:
    """Return the fields on a path of properties; none if the schema lacks one of them."""
    fields: list[Field] = []
    for step in path.split("."):
        field = fields_by_wire(schema, definition).get(step)
        if field is None:
            return []
        fields.append(field)
        definition = field.type.non_null.name
    return fields


class _Resolver:
    """Resolves the entries about one schema's kinds of updates.

    Args:
        schema: the schema.
        kinds: the definition of each kind.
        entries: the entries about each kind, in order of precedence.
    """

    def __init__(self, schema: Schema, kinds: dict[str, str], entries: dict[str, Entries]) -> None:
        self._schema = schema
        self._kinds = kinds
        self._entries = entries
        self._kept_as = self._find_kept_as()

    def _find_kept_as(self) -> dict[str, str]:
        """Return the kind of update as which each thing is kept: the one with `new`, or else the first whole one."""
        kept_as: dict[str, str] = {}
        for kind in self._kinds:
            for _, entry in self._entries.get(kind, ()):
                thing = entry.get("changes")
                if thing and "appends" not in entry and ("new" in entry or thing not in kept_as):
                    kept_as[thing] = kind
        return kept_as

    def resolve(self, kind: str) -> Effect:
        """Return what a kind does, by its first entry with the fewest names that this schema lacks."""
        table, entry = min(self._entries[kind], key=lambda candidate: len(self._find_missing(kind, candidate[1])))
        missing = self._find_missing(kind, entry)
        arguments = () if missing or not entry else tuple(self._list_arguments(kind, entry))
        name = next((key for key in EFFECTS if key in entry), "")
        return Effect(pascal(name), arguments, entry, table, missing)

    def _find_missing(self, kind: str, entry: dict[str, Any]) -> tuple[tuple[str, str], ...]:
        """Return the names in an entry that this schema lacks, each after the entry's key that names it."""
        names = self._list_names(kind, entry)
        return tuple((key, path) for key, definition, path in names if not self._find(definition, path))

    def _list_names(self, kind: str, entry: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
        """Yield the names in an entry: its key, the definition that should have the property, and the path."""
        own = self._kinds[kind]
        yield from ((key, own, entry[key]) for key in ("id", "appends") if key in entry)
        yield from (("sets", own, wire) for wire in entry.get("sets", {}).values() if wire != WHOLE)
        yield from (("new", own, wire) for wire in entry.get("new", ()))
        for key in ("changes", "removes"):
            if key in entry and entry[key] not in self._kept_as:
                yield key, "", entry[key]
            elif key in entry and "appends" in entry:
                yield "to", self._kinds[self._kept_as[entry[key]]], entry.get("to", entry["appends"])

    def _list_arguments(self, kind: str, entry: dict[str, Any]) -> Iterator[tuple[str, Any]]:
        """Yield the arguments of the class in `acp_runtime.updates`, with their keywords."""
        own = self._kinds[kind]
        if "sets" in entry:
            values = entry["sets"].items()
            yield "", {name: "" if wire == WHOLE else self._write_attribute(own, wire) for name, wire in values}
        else:
            yield "", next(entry[key] for key in EFFECTS if key in entry)
        yield from ((key, self._write_attribute(own, entry[key])) for key in ("id", "appends") if key in entry)
        if "changes" in entry and "appends" in entry:
            kept_as = self._kinds[self._kept_as[entry["changes"]]]
            yield "to", self._write_attribute(kept_as, entry.get("to", entry["appends"]))
            if self._find(own, entry["appends"])[-1].type.format == "base64":
                yield "is_base64", True
        yield from ((key, entry[key]) for key in ("null", "starts") if key in entry)
        if "meta" in entry:
            yield "patches_meta", True
        if self._kept_as.get(entry.get("changes", "")) == kind:
            yield "model", own
        if "new" in entry:
            yield "new", {self._write_attribute(own, wire): value for wire, value in entry["new"].items()}

    def _find(self, definition: str, path: str) -> list[Field]:
        return find_fields(self._schema, definition, path)

    def _write_attribute(self, definition: str, path: str) -> str:
        return ".".join(field.name for field in self._find(definition, path))
