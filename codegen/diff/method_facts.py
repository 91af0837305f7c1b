"""What `methods.toml` said of the methods of another commit, as far as the codegen that runs can read it.

The file of another commit may have keys that are unknown here, or lack some that are known. What can't be read is noted
and taken from today's file, so that it is not a difference; it never stops the comparison.
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
# The keys of a line that are facts.
FACTS = ("opens", "creates", "ends", "exempt", "gone", "cancels", "cancelled", "paths")
# A note names no more things than this.
_FEW = 5


@dataclass
class MethodFacts:
    """The file of one commit, and what of it turned out to be unreadable.

    Attributes:
        label: what the user called the commit.
        table: its tables; None if there is no file.
        unknown: keys of its lines that are not known here.
        unreadable: methods whose lines are not as lines are here.
        missing: methods of the commit's schemas that it has no line for.
        unsaid: what is known here and stands nowhere in it.
    """

    label: str
    table: dict[str, Any] | None
    unknown: dict[str, None] = field(default_factory=dict[str, None])
    unreadable: dict[str, None] = field(default_factory=dict[str, None])
    missing: dict[str, None] = field(default_factory=dict[str, None])
    unsaid: dict[str, None] = field(default_factory=dict[str, None])

    def of(self, version: str, schema: Schema, definitions: dict[str, Any]) -> Schema:
        """A schema whose methods have what their lines say."""
        properties = self._properties(version)
        kinds = [(each.wire, each.result is None, each.params) for each in schema.methods]
        reader = FactReader(definitions, properties["session"], kinds)
        methods = [self._of(version, each, definitions, reader) for each in schema.methods]
        return replace(schema, methods=methods, properties=properties)

    def _of(self, version: str, method: Method, definitions: dict[str, Any], reader: FactReader) -> Method:
        today = entry_of(version, method.side, method.wire) or {}
        said = self._line(version, method)
        line = today if said is None else said | {key: today[key] for key in today if self._lacks(key)}
        try:
            facts = reader.read(line, method.wire, method.params, method.result)
        except SchemaError:
            self.unreadable[method.wire] = None
            line, facts = today, reader.read(today, method.wire, method.params, method.result)
        parts = {part: path for part, path in line.get("content", {}).items() if _has(definitions, method, part)}
        return replace(
            method,
            capability=line.get("capability"),
            baseline=line.get("baseline", False),
            content=tuple(parts.items()),
            facts=facts,
            entry=line,
        )

    def _lacks(self, key: str) -> bool:
        """Whether the file is of a time when there was no such fact."""
        if key not in FACTS or any(key in line for line in self._lines()):
            return False
        self.unsaid[key] = None
        return True

    def _lines(self) -> Iterator[dict[str, Any]]:
        for sides in filter(is_object, (self.table or {}).values()):
            for lines in filter(is_object, sides.values()):
                yield from filter(is_object, lines.values())

    def _properties(self, version: str) -> dict[str, str]:
        """What the file says that all methods have in common, if it can be read."""
        tables = (self.table or {}).get(version)
        found = tables.get(SHARED) if is_object(tables) else None
        if is_object(found) and not properties_problem(found):
            return found
        if is_object(tables):
            (self.unsaid if found is None else self.unreadable)[SHARED] = None
        return shared_properties(version)

    def _line(self, version: str, method: Method) -> dict[str, Any] | None:
        """What the file says of a method, if it can be read."""
        if self.table is None:
            return None
        line: Any = self.table
        for key in (version, method.side, method.wire):
            line = line.get(key) if is_object(line) else None
        if line is None:
            self.missing[method.wire] = None
        elif not is_object(line) or not _is_readable(line):
            self.unreadable[method.wire] = None
        else:
            self.unknown.update(dict.fromkeys(line.keys() - KEYS.keys()))
            return line
        return None

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence for each kind of thing that can't be read."""
        file, today = f"{METHODS} of {self.label}", "what unlocks them is taken from today's file"
        if self.table is None:
            return (f"{self.label} has no {METHODS}: for all its methods {today}.",)
        notes = (
            (self.unknown, f"{file} has keys that this codegen doesn't know and doesn't compare: {{}}."),
            (self.unreadable, f"{file} has lines that this codegen can't read; {today}: {{}}."),
            (self.missing, f"{file} has no line for some methods; {today}: {{}}."),
            (self.unsaid, f"{file} doesn't have all facts yet; today's file says them: {{}}."),
        )
        return tuple(text.format(_listed(names)) for names, text in notes if names)


def read_facts(label: str, content: bytes | None) -> MethodFacts:
    """The file of a commit; None is no file.

    Raises:
        ValueError: it isn't TOML.
    """
    return MethodFacts(label, None if content is None else tomllib.loads(content.decode("utf-8")))


def _is_readable(line: dict[str, Any]) -> bool:
    """Whether what is known here has the types it has today."""
    return all(key not in KEYS or KEYS[key].is_valid(value) for key, value in line.items())


def _has(definitions: dict[str, Any], method: Method, part: str) -> bool:
    key, _, tag = part.partition(".")
    return has_part(definitions, method.params, key, tag)


def _listed(names: Iterable[str]) -> str:
    each = sorted(names)
    return ", ".join(each[:_FEW]) + (f" and {len(each) - _FEW} more" if len(each) > _FEW else "")
