"""Packages that import each exported name on first use."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from sys import modules
from typing import Any


def lazy_exports(
    package: str, homes: Mapping[str, Sequence[str]], rest: str = "", names: Sequence[str] = ()
) -> Callable[[str], Any]:
    """Return a module `__getattr__` (PEP 562) for a package, and make `dir` of the package list the names.

    Args:
        package: the name of the package.
        homes: submodules and the names that they define.
        rest: the submodule that defines all other names.
        names: the names in `rest`. It may list those in `homes`, too.
    """
    home_of = {**dict.fromkeys(names, rest), **{name: home for home, own in homes.items() for name in own}}

    def load(name: str) -> Any:
        if name not in home_of:
            hint = ". Import it from acp_runtime." if name in modules["acp_runtime"].__all__ else ""
            raise AttributeError(f"module {package!r} has no attribute {name!r}{hint}")
        value = getattr(import_module(f"{package}.{home_of[name]}"), name)
        setattr(modules[package], name, value)
        return value

    own = modules[package].__dict__
    own["__dir__"] = lambda: sorted({*own, *home_of})
    return load
