"""The classes of the profile of version 2 that a proxy or a model belongs to."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any, cast


def class_like(other: object, name: str) -> Any:
    """Return the class with a name in the profile of a proxy or a model.

    Raises:
        TypeError: the other object isn't of version 2.
    """
    return getattr(import_module(_profile(cast("Any", type(other)))), name)


def check_version(other: object) -> None:
    """Refuse a proxy or a model that isn't of version 2.

    Raises:
        TypeError: it is one.
    """
    _profile(cast("Any", type(other)))


@cache
def _profile(cls: Any) -> str:
    for base in cls.__mro__:
        package, _, rest = base.__module__.partition(".")
        name = rest.partition(".")[0]
        if package == "acp_bindings" and name.startswith("v2"):
            return f"acp_bindings.{name}"
    raise TypeError(
        f"acp_kit.v2 is for version 2, but {cls.__module__}.{cls.__qualname__} is not of acp_bindings.v2_draft"
    )
