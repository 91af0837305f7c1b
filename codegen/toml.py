"""TOML, with one kind of error for all that can be wrong with it."""

from __future__ import annotations

import tomllib
from typing import Any

from codegen.errors import FileError


def parse_toml(content: bytes, name: str) -> dict[str, Any]:
    """A file's TOML.

    Raises:
        FileError: it isn't TOML.
    """
    try:
        return tomllib.loads(content.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise FileError("", f"{name}: Not TOML: {error}. Correct it there.") from error
