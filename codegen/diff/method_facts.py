"""The facts about methods in another commit's `methods.toml`, as far as this codegen can read them.

That file may have keys that are unknown here, or lack known ones. Facts that can't be read are taken from the current
file, so that they don't count as changed, and the report has a note about them. They never stop the comparison.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from codegen.errors import SchemaError
from codegen.ir import Method, Schema
from codegen.nodes import is_object
from codegen.read.fact_rules import KEYS, properties_problem
from codegen.read.facts import FactReader
from codegen.read.facts_file import SHARED
from codegen.read.methods import entry_of, has_part, shared_properties

METHODS = "codegen/methods.toml"
# The keys of an entry that are compared as facts.
FACTS = ("opens", "creates", "ends", "exempt", "gone", "cancels", "cancelled", "paths")
# A note lists at most this many names.
_LISTED = 5


@dataclass
class MethodFacts:
    """The `methods.toml` of one commit. While it is applied to schemas, it collects what can't be read.

    Attributes:
        label: the commit, as the user gave it.
        table: the parsed file; None if the commit has none.
        unknown: keys that this codegen doesn't know.
        unreadable: methods whose entries this codegen can't read.
        missing: methods of the commit's schemas that have no entry.
        undefined: facts that this codegen knows and that no entry has.
    """

    label: str
    table: dict[str, Any] | None
    unknown: dict[str, None] = field(default_factory=dict[str, None])
    unreadable: dict[str, None] = field(default_factory=dict[str, None])
    missing: dict[str, None] = field(default_factory=dict[str, None])
    undefined: dict[str, None] = field(default_factory=dict[str, None])

    def add_to(self, schema: Schema, version: str, definitions: dict[str, Any]) -> Schema:
        """Return a schema whose methods have the facts of their entries."""
        properties = self._properties(version)
        kinds = [(each.wire, each.result is None, each.params) for each in schema.methods]
        reader = FactReader(definitions, properties["session"], kinds)
        methods = [self._with_facts(version, each, definitions, reader) for each in schema.methods]
        return replace(schema, methods=methods, properties=properties)

    def _with_facts(self, version: str, method: Method, definitions: dict[str, Any], reader: FactReader) -> Method:
        current = entry_of(version, method.side, method.wire) or {}
        own = self._entry(version, method)
        entry = current if own is None else own | {key: current[key] for key in current if self._lacks(key)}
        try:
            facts = reader.read(entry, method.wire, method.params, method.result)
        except SchemaError:
            self.unreadable[method.wire] = None
            entry, facts = current, reader.read(current, method.wire, method.params, method.result)
        parts = {part: path for part, path in entry.get("content", {}).items() if _has(definitions, method, part)}
        return replace(
            method,
            capability=entry.get("capability"),
            baseline=entry.get("baseline", False),
            content=tuple(parts.items()),
            facts=facts,
            entry=entry,
        )

    def _lacks(self, key: str) -> bool:
        """Return whether the key is a fact that no entry of the file has: it is probably older than the fact."""
        if key not in FACTS or any(key in entry for entry in self._entries()):
            return False
        self.undefined[key] = None
        return True

    def _entries(self) -> Iterator[dict[str, Any]]:
        for sides in filter(is_object, (self.table or {}).values()):
            for entries in filter(is_object, sides.values()):
                yield from filter(is_object, entries.values())

    def _properties(self, version: str) -> dict[str, str]:
        """Return the settings that all methods of a version share, from the current file if they can't be read."""
        tables = (self.table or {}).get(version)
        found = tables.get(SHARED) if is_object(tables) else None
        if is_object(found) and not properties_problem(found):
            return found
        if is_object(tables):
            (self.undefined if found is None else self.unreadable)[SHARED] = None
        return shared_properties(version)

    def _entry(self, version: str, method: Method) -> dict[str, Any] | None:
        """Return the entry of a method; None if there is none or it can't be read."""
        if self.table is None:
            return None
        entry: Any = self.table
        for key in (version, method.side, method.wire):
            entry = entry.get(key) if is_object(entry) else None
        if entry is None:
            self.missing[method.wire] = None
        elif not is_object(entry) or not _is_readable(entry):
            self.unreadable[method.wire] = None
        else:
            self.unknown.update(dict.fromkeys(entry.keys() - KEYS.keys()))
            return entry
        return None

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence for each kind of thing that can't be read."""
        if self.table is None:
            return (f"{self.label} has no {METHODS}. Facts about its methods are taken from the current file.",)
        file = f"{METHODS} of {self.label}"
        notes = (
            (self.unknown, f"{file} has keys that this codegen doesn't know; they are not compared: {{}}."),
            (self.unreadable, f"{file} has entries that this codegen can't read; the current file is used for: {{}}."),
            (self.missing, f"{file} has no entry for some methods; the current file is used for: {{}}."),
            (self.undefined, f"{file} lacks some kinds of facts; the current file is used for: {{}}."),
        )
        return tuple(text.format(_listed(names)) for names, text in notes if names)


def parse_facts(label: str, content: bytes | None) -> MethodFacts:
    """Parse the `methods.toml` of a commit; None means that it has no such file.

    Raises:
        ValueError: the content isn't TOML.
    """
    return MethodFacts(label, None if content is None else tomllib.loads(content.decode("utf-8")))


def _is_readable(entry: dict[str, Any]) -> bool:
    """Return whether the values of all known keys have the type that this codegen expects."""
    return all(key not in KEYS or KEYS[key].is_valid(value) for key, value in entry.items())


def _has(definitions: dict[str, Any], method: Method, part: str) -> bool:
    key, _, tag = part.partition(".")
    return has_part(definitions, method.params, key, tag)


def _listed(names: Iterable[str]) -> str:
    each = sorted(names)
    return ", ".join(each[:_LISTED]) + (f" and {len(each) - _LISTED} more" if len(each) > _LISTED else "")
