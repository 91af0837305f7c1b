"""`methods.toml` as a file: TOML, with a table for each version and side, and lines that say what a line can say.

What a line means, and whether it fits the schema, is decided in `codegen.methods`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

from codegen.errors import FileError
from codegen.nodes import is_object
from codegen.profiles import TABLES
from codegen.toml import parse_toml

# Version, side, method, and what the line says.
Table: TypeAlias = dict[str, dict[str, dict[str, Any]]]
# The table of a version that is about all its methods, not about those of a side.
SHARED = "properties"
# Whether a line of a side says what a line can say.
IsLine: TypeAlias = Callable[[Any, str], bool]


def read_table(path: Path, sides: Collection[str], is_line: IsLine, keys: Collection[str]) -> Table:
    """The whole file. `keys` are what a line may have, for the sentence of an error.

    Raises:
        FileError: the file is missing or isn't what it has to be.
    """
    name = f"{path.parent.name}/{path.name}"
    try:
        content = path.read_bytes()
    except OSError as error:
        raise FileError("", f"{name}: It can't be read: {error.strerror}. Restore it with git.") from error
    return _parsed(content, name, tuple(sides), is_line, tuple(sorted(keys)))


@lru_cache(maxsize=4)
def _parsed(content: bytes, name: str, sides: tuple[str, ...], is_line: IsLine, keys: tuple[str, ...]) -> Table:
    table = parse_toml(content, name)
    for place, wire, line, side in _lines(table, name, sides):
        if not is_line(line, side):
            known = f"What a line may say ({', '.join(keys)}) is described at the top of the file."
            raise FileError("", f"{name} [{place}] {wire!r}: There is no rule for {line!r}. {known}")
    return table


def _lines(table: dict[str, Any], name: str, sides: tuple[str, ...]) -> Iterator[tuple[str, str, Any, str]]:
    """Every line, with the table it stands in and its side."""
    for version, tables in table.items():
        _check_table(version, tables, "version of the protocol", TABLES, name)
        for side, lines in tables.items():
            if side == SHARED:
                continue  # `codegen.methods` looks at it
            _check_table(f"{version}.{side}", lines, "side", [f"{version}.{each}" for each in sides], name)
            yield from ((f"{version}.{side}", wire, line, side) for wire, line in lines.items())


def _check_table(key: str, found: Any, what: str, known: Collection[str], name: str) -> None:
    if key in known and not is_object(found):
        raise FileError("", f"{name}: {key} is {found!r}. It has to be a table.")
    if key not in known:
        raise FileError("", f"{name}: [{key}] is not the table of a {what}; those are {', '.join(known)}.")
