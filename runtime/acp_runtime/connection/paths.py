"""Finds relative paths where the protocol requires absolute ones (rule 28), in POSIX or Windows form on any machine."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from acp_runtime.models.json_values import as_array
from acp_runtime.stubs.methods import AnyMethod

_ABSOLUTE = re.compile(r"/|[A-Za-z]:[\\/]|\\\\")


def is_absolute(path: str) -> bool:
    """Whether a path is absolute on POSIX, or begins with a drive or a UNC share."""
    return _ABSOLUTE.match(path) is not None


def relative_paths(method: AnyMethod, params: Any) -> Iterator[tuple[str, str]]:
    """Yield the fields of a method's params that hold a relative path, and the paths."""
    for field in method.paths:
        value: Any = getattr(params, field)
        items = as_array(value)
        for path in [value] if items is None else items:
            if isinstance(path, str) and not is_absolute(path):
                yield field, path
