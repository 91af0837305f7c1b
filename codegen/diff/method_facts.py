"""The facts about methods in another commit's `methods.toml`, as far as this codegen can read them.

That file may have another format. Entries that can't be read are taken from the current file, so that they don't count
as changed, and the report has a note about them. The same holds for kinds of facts that the commit's file didn't have
yet. Nothing in the file stops the comparison.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from codegen.data.facts_file import (
    PLACES,
    SHARED,
    Entries,
    EntryWithCapability,
    PlaceEntry,
    Properties,
    Table,
    find_entries,
    find_place_entries,
    find_shared_properties,
    table_names,
)
from codegen.data.resolve import Resolver, attach_place_facts
from codegen.errors import SchemaError
from codegen.escaping import join_first
from codegen.ir import Method, Schema
from codegen.nodes import is_object
from codegen.toml import validate

METHODS = "codegen/methods.toml"
# The keys of an entry that are compared as facts.
FACTS = ("opens", "creates", "ends", "exempt", "gone", "cancels", "cancelled", "interactive", "accepted")
# A note lists at most this many names.
_LISTED = 5


@dataclass
class MethodFacts:
    """The `methods.toml` of one commit.

    Attributes:
        label: the commit, as the user gave it.
        table: the parsed file; empty if the commit doesn't have it.
        unread: the entries that were taken from the current file, because they are missing here or can't be read.
        unknown: the kinds of facts that were taken from the current file, because no entry here has them.
    """

    label: str
    table: dict[str, Any]
    unread: dict[str, None] = field(default_factory=dict[str, None])
    unknown: set[str] = field(default_factory=set[str])

    def add_to(self, schema: Schema, facts: str) -> Schema:
        """Return a schema with the facts of this file. `facts` is the name of the profile's own tables."""
        tables = (self._tables.get(name, {}).get(SHARED) for name in table_names(facts))
        properties: Any = next((table for table in tables if table is not None), None)
        try:
            validate(Properties, properties, METHODS)
        except SchemaError:
            self.unread[SHARED] = None
            properties = find_shared_properties(facts)
        resolver = Resolver(schema, facts, properties)
        methods = [self._with_facts(facts, method, resolver) for method in schema.methods]
        schema = replace(schema, methods=methods, properties=properties)
        return attach_place_facts(schema, facts, self._place_entries(facts), checked=False)

    def _place_entries(self, facts: str) -> dict[str, Entries]:
        """Return the entries about places; those of the current file if this one has no such table."""
        if not any(PLACES in sides for sides in self._tables.values()):
            return find_place_entries(facts)
        entries = find_place_entries(facts, self._tables)
        try:
            validate(dict[str, list[tuple[str, PlaceEntry]]], entries, METHODS)
        except SchemaError:
            self.unread[PLACES] = None
            return find_place_entries(facts)
        return entries

    def _with_facts(self, facts: str, method: Method, resolver: Resolver) -> Method:
        try:
            return resolver.resolve(method, self._entries(facts, method), checked=False)
        except SchemaError:
            self.unread[method.wire] = None
            entries = find_entries(facts, method.side, method.wire) or [("", {})]
            return resolver.resolve(method, entries, checked=False)

    def _entries(self, facts: str, method: Method) -> Entries:
        """Return the entries of a method.

        Raises:
            SchemaError: there is no entry, or it can't be read.
        """
        entries = find_entries(facts, method.side, method.wire, self._tables) if self._tables else []
        values: list[Any] = [entry for _, entry in entries] or [None]
        for entry in values:
            validate(EntryWithCapability, entry, METHODS)
        more = self._of_unknown_kinds(facts, method)
        return [(name, entry | more) for name, entry in entries]

    def _of_unknown_kinds(self, facts: str, method: Method) -> dict[str, Any]:
        """Return the facts in a method's current entry whose kind this file doesn't have."""
        current = [entry for _, entry in find_entries(facts, method.side, method.wire)[-1:]]
        unknown = {*FACTS} - self._kinds
        added = {key: value for entry in current for key, value in entry.items() if key in unknown}
        self.unknown.update(added)
        return added

    @cached_property
    def _tables(self) -> Table:
        """The tables, by version and side, without values that aren't tables."""
        versions = {version: sides for version, sides in self.table.items() if is_object(sides)}
        return {
            name: {side: entries for side, entries in sides.items() if is_object(entries)}
            for name, sides in versions.items()
        }

    @cached_property
    def _kinds(self) -> set[str]:
        entries = (
            entry
            for sides in self._tables.values()
            for entries_by_wire in sides.values()
            for entry in entries_by_wire.values()
        )
        return {key for entry in entries if is_object(entry) for key in entry}

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about the entries and facts that are taken from the current file."""
        parts = [("entry that can be read for", sorted(self.unread)), ("facts of the kinds", sorted(self.unknown))]
        return tuple(
            f"{METHODS} of {self.label} has no {part} {join_first(names, _LISTED)}. The current file is used for them."
            for part, names in parts
            if names
        )
