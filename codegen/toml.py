"""Parses TOML, and reports everything that can be wrong with it as a `FileError`."""

from __future__ import annotations

import tomllib
from typing import Any

from codegen.errors import FileError


def parse_toml(content: bytes, name: str) -> dict[str, Any]:
    """Parse the content of a TOML file. `name` is the file's name in the error message.

    Raises:
        FileError: the content is not TOML.
    """
    try:
        return tomllib.loads(content.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise FileError("", f"{name}: Not TOML: {error}. Correct the file, or restore it with git.") from error
