"""Reads `choices.toml`: the values in the examples, and the titles of the overview's sections."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from codegen.toml import checked, parse_toml, read_file

FILE = Path(__file__).with_name("choices.toml")
_SHOWN = "codegen/reference/choices.toml"


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
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
    return checked(Choices, parse_toml(read_file(FILE, _SHOWN), _SHOWN), _SHOWN)
