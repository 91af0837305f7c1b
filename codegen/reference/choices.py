"""Reads `choices.toml`: the values in the examples, and the titles of the overview's sections."""

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
class Choices:
    """What the schema leaves open. The keys of the tables are explained in the file."""

    names: dict[str, Any]
    types: dict[str, Any]
    fields: dict[str, Any]
    members: dict[str, Any]
    shown: dict[str, list[str]]
    families: dict[str, str]


@cache
def read_choices() -> Choices:
    """Return the content of the file.

    Raises:
        FileError: it is not TOML, or a table is missing or unknown.
    """
    found = parse_toml(FILE.read_bytes(), _SHOWN)
    names = {each.name for each in fields(Choices)}
    for key in sorted(names ^ found.keys()):
        problem = "lacks" if key in names else "has an unknown"
        raise FileError("", f"{_SHOWN}: It {problem} `{key}`. Correct the file, or restore it with git.")
    return Choices(**found)
