"""The facts about methods in another commit's `methods.toml`, as far as this codegen can read them.

That file may have another format. What can't be read is taken from the current file, so that it doesn't count as
changed, and the report has a note about it. So are facts of a kind that no entry has: when the commit was made, there
were none, and the runtime knew what they say. It never stops the comparison.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from codegen.errors import SchemaError
from codegen.ir import Method, Schema
from codegen.nodes import is_object
from codegen.read.facts import FactReader, Facts
from codegen.read.facts_file import SHARED, EntryWithCapability, Properties
from codegen.read.methods import entry_of, has_part, shared_properties
from codegen.toml import checked

METHODS = "codegen/methods.toml"
# The keys of an entry that are compared as facts.
FACTS = ("opens", "creates", "ends", "exempt", "gone", "cancels", "cancelled", "paths")
# A note lists at most this many names.
_LISTED = 5


@dataclass
class MethodFacts:
    """The `methods.toml` of one commit.

    Attributes:
        label: the commit, as the user gave it.
        table: the parsed file; empty if the commit has none.
        unread: the entries that were taken from the current file, because this one has none or it can't be read.
        unknown: the kinds of facts that were taken from the current file, because no entry of this one has any.
    """

    label: str
    table: dict[str, Any]
    unread: dict[str, None] = field(default_factory=dict[str, None])
    unknown: set[str] = field(default_factory=set[str])

    def add_to(self, schema: Schema, version: str, definitions: dict[str, Any]) -> Schema:
        """Return a schema whose methods have the facts of their entries."""
        properties = self._entry(version, SHARED)
        try:
            checked(Properties, properties, METHODS)
        except SchemaError:
            self.unread[SHARED] = None
            properties = shared_properties(version)
        kinds = [(each.wire, each.result is None, each.params) for each in schema.methods]
        reader = FactReader(definitions, properties["session"], kinds)
        methods = [self._with_facts(version, each, definitions, reader) for each in schema.methods]
        return replace(schema, methods=methods, properties=properties)

    def _with_facts(self, version: str, method: Method, definitions: dict[str, Any], reader: FactReader) -> Method:
        def read(entry: dict[str, Any]) -> Facts:
            return reader.read(entry, method.wire, method.params, method.result)

        entry = self._entry(version, method.side, method.wire)
        try:
            checked(EntryWithCapability, entry, METHODS)
            entry = entry | self._of_unknown_kinds(version, method)
            facts = read(entry)
        except SchemaError:
            self.unread[method.wire] = None
            entry = entry_of(version, method.side, method.wire) or {}
            facts = read(entry)
        content = entry.get("content", {}).items()
        return replace(
            method,
            capability=entry.get("capability"),
            baseline=entry.get("baseline", False),
            content=tuple((part, path) for part, path in content if has_method_part(definitions, method, part)),
            facts=facts,
            entry=entry,
        )

    def _entry(self, *keys: str) -> Any:
        found: Any = self.table
        for key in keys:
            found = found.get(key) if is_object(found) else None
        return found

    def _of_unknown_kinds(self, version: str, method: Method) -> dict[str, Any]:
        """Return the facts of a method's current entry that are of a kind that this file doesn't have."""
        current = entry_of(version, method.side, method.wire) or {}
        facts = {key: current[key] for key in FACTS if key in current and key not in self._kinds}
        self.unknown.update(facts)
        return facts

    @cached_property
    def _kinds(self) -> set[str]:
        sides = (side for version in self.table.values() if is_object(version) for side in version.values())
        entries = (entry for side in sides if is_object(side) for entry in side.values())
        return {key for entry in entries if is_object(entry) for key in entry}

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about what is taken from the current file."""
        parts = [("entry that can be read for", sorted(self.unread)), ("facts of the kinds", sorted(self.unknown))]
        return tuple(
            f"{METHODS} of {self.label} has no {what} {_listed(names)}. The current file is used for them."
            for what, names in parts
            if names
        )


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return f"{', '.join(names[:_LISTED])}{more}"


def has_method_part(definitions: dict[str, Any], method: Method, part: str) -> bool:
    """Return whether the params of a method have a part, whether or not it needs a capability."""
    key, _, tag = part.partition(".")
    return has_part(definitions, method.params, key, tag)
