"""Packages that load each of their names on first use."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from acp_kit.common.extras import first_missing, require


def lazy_exports(
    package: str, exports: Mapping[str, Sequence[str]], extras: Mapping[str, Sequence[str]] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return the `__getattr__`, the `__dir__` (PEP 562) and the `__all__` of a package.

    Hide these from type checkers, which would accept any name otherwise.

    Args:
        package: the name of the package.
        exports: its modules, and the names that it exports from each. A module of the parent package begins with a dot.
        extras: names that need further packages, each with its extra and these packages. `dir`, and so `help`, leaves
            out a name if one of its packages isn't installed.
    """
    extras = extras or {}
    module_of = {name: module for module, names in exports.items() for name in names}

    def load(name: str) -> Any:
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if name in extras:
            require(name, *extras[name])
        return getattr(import_module(f".{module_of[name]}", package), name)

    def available() -> list[str]:
        return sorted(name for name in module_of if not first_missing(extras.get(name, ())[1:]))

    return load, available, sorted(module_of)
