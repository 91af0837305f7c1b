"""Paths that the protocol wants absolute (rule 28), in the forms of POSIX and of Windows, whatever this machine is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

_ABSOLUTE = re.compile(r"/|[A-Za-z]:[\\/]|\\\\")
_FIELDS = ("cwd", "path", "additional_directories")


def is_absolute(path: str) -> bool:
    """Whether a path is absolute on POSIX, or begins with a drive or a UNC share."""
    return _ABSOLUTE.match(path) is not None


def relative_paths(params: Any) -> Iterator[tuple[str, str]]:
    """The fields of params that hold a relative path, and the paths."""
    for field in _path_fields(type(params)):
        value = getattr(params, field)
        for path in value if isinstance(value, list) else [value]:
            if isinstance(path, str) and not is_absolute(path):
                yield field, path


@cache
def _path_fields(model: Any) -> tuple[str, ...]:
    fields = getattr(model, "model_fields", {})
    return tuple(name for name in _FIELDS if name in fields)
