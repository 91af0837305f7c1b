"""Paths that the protocol wants absolute (rule 28), in the forms of POSIX and of Windows, whatever this machine is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from acp_runtime.json_values import as_array

_ABSOLUTE = re.compile(r"/|[A-Za-z]:[\\/]|\\\\")
_FIELDS = ("cwd", "path", "additional_directories")


def is_absolute(path: str) -> bool:
    """Whether a path is absolute on POSIX, or begins with a drive or a UNC share."""
    return _ABSOLUTE.match(path) is not None


def relative_paths(params: Any) -> Iterator[tuple[str, str]]:
    """The fields of params that hold a relative path, and the paths."""
    for field in path_fields(params.__class__):
        value: Any = getattr(params, field)
        items = as_array(value)
        for path in [value] if items is None else items:
            if isinstance(path, str) and not is_absolute(path):
                yield field, path


@cache
def path_fields(model: Any) -> tuple[str, ...]:
    """The fields of a model that may hold paths."""
    fields = getattr(model, "model_fields", {})
    return tuple(name for name in _FIELDS if name in fields)
