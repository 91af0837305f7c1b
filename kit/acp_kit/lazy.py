"""Packages that load each of their names on first use."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any


def load(package: str, modules: Mapping[str, str], name: str) -> Any:
    """Return a name of a package. Call it in the package's `__getattr__` (PEP 562).

    Args:
        package: the name of the package.
        modules: its names, and the module of each.
        name: the name that is wanted.
    """
    if name not in modules:
        raise AttributeError(f"module {package!r} has no attribute {name!r}")
    return getattr(import_module(f"{package}.{modules[name]}"), name)
