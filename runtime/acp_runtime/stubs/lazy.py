"""Packages that import each exported name on first use, and modules with old names."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from sys import modules
from typing import Any
from warnings import warn

Load = Callable[[str], Any]


def lazy_exports(package: str, homes: Mapping[str, Sequence[str]], rest: str = "", names: Sequence[str] = ()) -> Load:
    """Return a module `__getattr__` (PEP 562) that exports names of submodules, and make `dir` list them.

    It provides `__all__`, unless the package defines one itself.

    Args:
        package: the name of the package.
        homes: submodules and the names that they define.
        rest: the submodule that exports all other names.
        names: the names that the package defines itself.
    """
    home_of = {name: home for home, own in homes.items() for name in own}

    def others() -> Sequence[str]:
        return import_module(f"{package}.{rest}").__all__ if rest else ()

    def load(name: str) -> Any:
        if name == "__all__":
            value: Any = sorted({*names, *home_of, *others()})
        elif name in home_of or name in others():
            value = getattr(import_module(f"{package}.{home_of.get(name, rest)}"), name)
        else:
            hint = ". Import it from acp_runtime." if name in modules["acp_runtime"].__all__ else ""
            raise AttributeError(f"module {package!r} has no attribute {name!r}{hint}")
        setattr(modules[package], name, value)
        return value

    own = modules[package].__dict__
    own["__dir__"] = lambda: sorted({*own, *home_of, *others()})
    return load


def profile_names(package: str, profiles: Mapping[str, str]) -> Load:
    """Return a module `__getattr__` (PEP 562) with the names that annotations use for the stubs of several profiles.

    Tools that evaluate annotations, such as beartype, need them.

    Args:
        package: the package with the profiles.
        profiles: the names of profiles, by what the names in annotations begin with: `V1` for `V1RemoteAgent`.
    """

    def load(name: str) -> Any:
        for stub in ("RemoteAgent", "RemoteClient", "Agent", "Client"):
            if (profile := profiles.get(name.removesuffix(stub))) and name.endswith(stub):
                return getattr(import_module(f"{package}.{profile}"), stub)
        if name.removesuffix("Offer") in profiles and name.endswith("Offer"):
            return tuple[Any, Any]
        raise AttributeError(f"module {f'{package}.versions'!r} has no attribute {name!r}")

    return load


def old_names(module: str, names: Mapping[str, tuple[str, str]], load: Load | None = None) -> Load:
    """Return a module `__getattr__` (PEP 562) that makes old names of a module aliases, which warn.

    Args:
        module: the name of the module.
        names: for each old name the new one, and the version of the package that no longer has the old one.
        load: the `__getattr__` for other names; None if there are none.
    """

    def load_old(name: str) -> Any:
        if name not in names:
            if load is not None:
                return load(name)
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        new, until = names[name]
        # `from package import name` first looks whether the package has the name. It reads it again, from the user's
        # line, which is then the one to warn about.
        frame = inspect.currentframe()
        if frame and (caller := frame.f_back) and caller.f_globals.get("__name__") != "importlib._bootstrap":
            text = f"{module}.{name} is {new} now. The old name will be removed in acp-bindings {until}."
            warn(text, DeprecationWarning, stacklevel=2)
        return getattr(modules[module], new)

    return load_old
