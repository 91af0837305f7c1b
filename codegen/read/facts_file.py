"""`methods.toml` as a file: TOML, with a table for each version and side, and lines that say what a line can say.

What a line can say is in `codegen.read.fact_rules`; what it means, and whether it fits the schema, is decided in
`codegen.read.methods` and `codegen.read.facts`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

from codegen.errors import FileError
from codegen.nodes import is_object
from codegen.pinned.profiles import TABLES
from codegen.read.fact_rules import entry_problem, properties_problem
from codegen.toml import parse_toml

# Version, side, method, and what the line says.
Table: TypeAlias = dict[str, dict[str, dict[str, Any]]]
# The table of a version that is about all its methods, not about those of a side.
SHARED = "properties"
MEANING = "What it means is described at the top of the file."


def read_facts_file(path: Path, sides: Collection[str], advertising: Collection[str]) -> Table:
    """The whole file.

    Args:
        path: where it is.
        sides: the sides that methods have.
        advertising: those of them that say in a message what they can do.

    Raises:
        FileError: the file is missing or isn't what it has to be.
    """
    name = f"{path.parent.name}/{path.name}"
    try:
        content = path.read_bytes()
    except OSError as error:
        raise FileError("", f"{name}: It can't be read: {error.strerror}. Restore it with git.") from error
    return _parsed(content, name, tuple(sides), tuple(advertising))


@lru_cache(maxsize=4)
def _parsed(content: bytes, name: str, sides: tuple[str, ...], advertising: tuple[str, ...]) -> Table:
    table = parse_toml(content, name)
    for place, wire, line, side in _lines(table, name, sides):
        if wrong := entry_problem(line, side, advertising):
            raise FileError("", f"{name} [{place}] {wire!r}: {wrong} {MEANING}")
    for version, tables in table.items():
        if wrong := properties_problem(tables.get(SHARED)):
            raise FileError("", f"{name} [{version}.{SHARED}]: {wrong} {MEANING}")
    return table


def _lines(table: dict[str, Any], name: str, sides: tuple[str, ...]) -> Iterator[tuple[str, str, Any, str]]:
    """Every line, with the table it stands in and its side."""
    for version, tables in table.items():
        _check_table(version, tables, "version of the protocol", TABLES, name)
        for side, lines in tables.items():
            if side == SHARED:
                continue
            _check_table(f"{version}.{side}", lines, "side", [f"{version}.{each}" for each in sides], name)
            yield from ((f"{version}.{side}", wire, line, side) for wire, line in lines.items())


def _check_table(key: str, found: Any, what: str, known: Collection[str], name: str) -> None:
    if key in known and not is_object(found):
        raise FileError("", f"{name}: {key} is {found!r}. It has to be a table.")
    if key not in known:
        raise FileError("", f"{name}: [{key}] is not the table of a {what}; those are {', '.join(known)}.")
