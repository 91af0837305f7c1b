"""Reads `choices.toml`: the values in the examples, and the pages that types are on."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

from codegen.errors import FileError
from codegen.toml import parse_toml

FILE = Path(__file__).with_name("choices.toml")
_SHOWN = "codegen/reference/choices.toml"


@dataclass(frozen=True)
class TypePage:
    """A page about types.

    Attributes:
        file: its name, without the suffix.
        title: its title.
        text: what is on it.
        types: the types that it is about. What they consist of is on it, too, unless an earlier page has it.
    """

    file: str
    title: str
    text: str
    types: tuple[str, ...]


@dataclass(frozen=True)
class Choices:
    """What the schema leaves open. The keys of the tables are explained in the file."""

    names: dict[str, Any]
    types: dict[str, Any]
    fields: dict[str, Any]
    members: dict[str, Any]
    shown: dict[str, list[str]]
    families: dict[str, str]
    pages: tuple[TypePage, ...]


@cache
def read_choices() -> Choices:
    """Return the content of the file.

    Raises:
        FileError: it is not TOML, or a table or a key of a page is missing or unknown.
    """
    found = parse_toml(FILE.read_bytes(), _SHOWN)
    _check_keys("It", found, Choices)
    for page in found["pages"]:
        _check_keys("A page", page, TypePage)
    pages = [TypePage(each["file"], each["title"], each["text"], tuple(each["types"])) for each in found.pop("pages")]
    return Choices(**found, pages=tuple(pages))


def _check_keys(what: str, table: dict[str, Any], kind: type[Choices | TypePage]) -> None:
    names = {each.name for each in fields(kind)}
    for key in sorted(names ^ table.keys()):
        problem = "lacks" if key in names else "has an unknown"
        raise FileError("", f"{_SHOWN}: {what} {problem} `{key}`. Correct the file, or restore it with git.")
