"""The public names of a module."""

from __future__ import annotations

from types import ModuleType


def find_public_names(module: ModuleType) -> list[str]:
    """Return the names in `__all__`, or else all names except private ones and those of modules."""
    names = [name for name, value in vars(module).items() if name[0] != "_" and not isinstance(value, ModuleType)]
    return sorted(getattr(module, "__all__", names))
