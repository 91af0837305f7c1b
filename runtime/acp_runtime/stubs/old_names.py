"""Old names, which work for some releases after upstream changed them. Loaded only by packages that have some.

An old name of a definition is an alias. An old name of a method is a deprecated method of the proxy, and an override
under an old name handles the method.
"""

from __future__ import annotations

import inspect
import sys
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import CodeType
from typing import TYPE_CHECKING, Any, TypeVar
from warnings import warn, warn_explicit

from acp_runtime.stubs.methods import AnyMethod

F = TypeVar("F", bound=Callable[..., Any])

_IMPORT_SYSTEM = "importlib._bootstrap"


def old_names(
    module: str, names: Mapping[str, tuple[str, str]], load: Callable[[str], Any] | None = None
) -> Callable[[str], Any]:
    """Return a module `__getattr__` (PEP 562) for the old names of a module.

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
        if _module_of_caller() != _IMPORT_SYSTEM:
            warn(_sentence(f"{module}.{name}", new, until), DeprecationWarning, stacklevel=2)
        return getattr(sys.modules[module], new)

    return load_old


def _module_of_caller() -> Any:
    """Return the name of the module that called the caller."""
    frame = inspect.currentframe()
    caller = frame and frame.f_back and frame.f_back.f_back
    return caller.f_globals.get("__name__") if caller else None


def by_old_wire_name(methods: Iterable[AnyMethod], wire: str) -> AnyMethod | None:
    """Return the method that had a name on the wire; None if none had. Warns in the name of `supports`' caller."""
    for method in methods:
        for old, _, until in method.old_names:
            if old == wire:
                warn(_sentence(repr(wire), repr(method.wire), until), DeprecationWarning, stacklevel=4)
                return method
    return None


def _sentence(old: str, new: str, until: str) -> str:
    return f"{old} is {new} now. The old name will be removed in acp-bindings {until}."


if TYPE_CHECKING:

    def abstract_at_run_time(method: F) -> F:
        """Mark a method as abstract, but not for type checkers, which don't know that another name implements it."""
        return method

else:
    abstract_at_run_time = abstractmethod


def use_old_overrides(cls: type, methods: Iterable[AnyMethod]) -> None:
    """Let a new handler class handle methods by the overrides that it has under old names.

    Of a method with old names, all names become the same function: that of the nearest base class which defines one of
    them. If a class defines several, the new name counts.
    """
    for method in methods:
        for base in cls.__mro__:
            names = [name for name in (method.name, *_old_names(method)) if name in vars(base)]
            if names:
                if not _is_joined(cls, base):
                    _join(cls, base, method, names)
                break


def _old_names(method: AnyMethod) -> Iterator[str]:
    yield from (name for _, name, _ in method.old_names)


def _is_joined(cls: type, base: type) -> bool:
    """Return whether the names of a base class are the same function already, or are generated."""
    return "_acp_schema" in vars(base) or (base is not cls and hasattr(base, "_acp_schema"))


def _join(cls: type, base: type, method: AnyMethod, defined: list[str]) -> None:
    override = vars(base)[defined[0]]
    for _, name, until in method.old_names:
        if name in defined and (name == defined[0] or vars(base)[name] is not override):
            _warn_of_override(cls, vars(base)[name], _about_override(base, method, name, until, defined[0]))
    for name in (method.name, *_old_names(method)):
        if name not in defined:
            setattr(cls, name, override)


def _about_override(base: type, method: AnyMethod, name: str, until: str, used: str) -> str:
    if name != used:
        return f"{base.__name__}.{name} is never called, because {base.__name__} also defines {used}. Remove it."
    return (
        f"{base.__name__}.{name} overrides an old name of {method.name}. Rename it; in acp-bindings {until} it will no "
        "longer be called."
    )


def _warn_of_override(cls: type, override: Any, text: str) -> None:
    """Warn in the name of the line that defines an override, or of the class if that is unknown."""
    function = inspect.unwrap(getattr(override, "__func__", override))
    code: CodeType | None = getattr(function, "__code__", None)
    if code is None:
        warn(text, DeprecationWarning, stacklevel=_depth_of(cls))
        return
    names: dict[str, Any] = function.__globals__
    warn_explicit(
        text,
        DeprecationWarning,
        code.co_filename,
        code.co_firstlineno,
        module=function.__module__,
        registry=names.setdefault("__warningregistry__", {}),
    )


def _depth_of(cls: type) -> int:
    """Return how many frames above the caller the class statement is."""
    depth, frame = 0, inspect.currentframe()
    while frame and frame.f_globals.get("__name__") != cls.__module__:
        depth, frame = depth + 1, frame.f_back
    return depth
