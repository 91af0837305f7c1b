"""Reads `methods.toml`: TOML with a table for each version and side, which holds an entry for each method.

Checks the form of every entry by `codegen.read.fact_rules`. Independent of the schema: `codegen.read.methods` and
`codegen.read.facts` check whether an entry fits it.
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

FILE = "codegen/methods.toml"
# The entries by version, side and method.
Table: TypeAlias = dict[str, dict[str, dict[str, Any]]]
# The table of a version that is about all its methods, instead of those of one side.
SHARED = "properties"
MEANING = "The top of the file describes every key."


def read_facts_file(path: Path, sides: Collection[str], advertising: Collection[str]) -> Table:
    """Read the whole file.

    Args:
        path: the file.
        sides: the sides that methods can have.
        advertising: the sides that advertise capabilities.

    Raises:
        FileError: the file is missing or invalid.
    """
    name = f"{path.parent.name}/{path.name}"
    try:
        content = path.read_bytes()
    except OSError as error:
        raise FileError("", f"{name}: The file can't be read: {error.strerror}. Restore it with git.") from error
    return _parsed(content, name, tuple(sides), tuple(advertising))


@lru_cache(maxsize=4)
def _parsed(content: bytes, name: str, sides: tuple[str, ...], advertising: tuple[str, ...]) -> Table:
    table = parse_toml(content, name)
    for place, wire, entry, side in _entries(table, name, sides):
        if problem := entry_problem(entry, side, advertising):
            raise FileError("", f"{name} [{place}] {wire!r}: {problem} {MEANING}")
    for version, tables in table.items():
        if problem := properties_problem(tables.get(SHARED)):
            raise FileError("", f"{name} [{version}.{SHARED}]: {problem} {MEANING}")
    return table


def _entries(table: dict[str, Any], name: str, sides: tuple[str, ...]) -> Iterator[tuple[str, str, Any, str]]:
    """Yield every entry: its table, the method, the entry itself, and the method's side."""
    for version, tables in table.items():
        _check_table(version, tables, TABLES, name)
        for side, entries in tables.items():
            if side == SHARED:
                continue
            _check_table(f"{version}.{side}", entries, [f"{version}.{each}" for each in (*sides, SHARED)], name)
            yield from ((f"{version}.{side}", wire, entry, side) for wire, entry in entries.items())


def _check_table(key: str, found: Any, known: Collection[str], name: str) -> None:
    if key not in known:
        raise FileError("", f"{name}: Unknown table [{key}]; the tables here are {', '.join(known)}.")
    if not is_object(found):
        raise FileError("", f"{name}: {key!r} must be a table, found {found!r}.")
