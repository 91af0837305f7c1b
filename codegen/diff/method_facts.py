"""The facts about methods in another commit's `methods.toml`, as far as this codegen can read them.

That file may have another format. What can't be read is taken from the current file, so that it doesn't count as
changed, and the report has a note about it. It never stops the comparison.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
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
    """

    label: str
    table: dict[str, Any]
    unread: dict[str, None] = field(default_factory=dict[str, None])

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

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence about the entries that are taken from the current file."""
        names = sorted(self.unread)
        more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
        what = f"{METHODS} of {self.label} has no entry that can be read for {', '.join(names[:_LISTED])}{more}."
        return (f"{what} The current file is used for them.",) if names else ()


def has_method_part(definitions: dict[str, Any], method: Method, part: str) -> bool:
    """Return whether the params of a method have a part, whether or not it needs a capability."""
    key, _, tag = part.partition(".")
    return has_part(definitions, method.params, key, tag)
