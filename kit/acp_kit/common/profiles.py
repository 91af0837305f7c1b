"""The classes of other profiles that have the same messages as `acp_bindings.v1`.

Most of acp_kit is written for `acp_bindings.v1`. Proxies and requests of `v1_unstable` also work: for these, messages
are built with the classes of that profile, and models of v1 are converted. Those of version 2 are refused, because
their messages are different.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any, TypeVar, cast

T = TypeVar("T")


def check_version(proxy: object) -> None:
    """Refuse a proxy of version 2.

    Raises:
        TypeError: it is one.
    """
    _profile(cast("Any", type(proxy)))


def like(other: object, cls: type[T]) -> type[T]:
    """Return the class with the same name in the profile of another object.

    Args:
        other: a proxy, or an instance of a model. With any other object, the class itself is returned.
        cls: the class in `acp_bindings.v1`.

    Raises:
        TypeError: the other object is of version 2.
    """
    profile = _profile(cast("Any", type(other)))
    return cls if profile is None else cast("type[T]", getattr(import_module(profile), cls.__name__))


def convert(other: object, model: T) -> T:
    """Return a model of `acp_bindings.v1`, converted to the profile of another object.

    Args:
        other: a proxy, or an instance of a model.
        model: the model. A model of another profile than v1 is returned unchanged.

    Raises:
        TypeError: one of them is of version 2.
    """
    cls = cast("Any", type(model))
    wanted = like(other, cls) if _profile(cls) is None else cls
    return model if wanted is cls else wanted.model_validate(cast("Any", model).model_dump())


@cache
def profile_of(cls: Any) -> str | None:
    """Return the name of the profile that a class or one of its bases belongs to; None for other classes."""
    for base in cls.__mro__:
        package, _, rest = base.__module__.partition(".")
        if package == "acp_bindings":
            name: str = rest.partition(".")[0]
            return name
    return None


@cache
def _profile(cls: Any) -> str | None:
    """Return the module of the profile that a class or one of its bases belongs to; None for v1 and other classes."""
    name = profile_of(cls)
    if name is not None and name.startswith("v2"):
        raise TypeError(
            f"This part of acp_kit is for version 1, but this {cls.__name__} belongs to acp_bindings.{name}. "
            "`acp_kit.versions.as_v2` serves an agent of version 1 to clients of version 2; `acp_kit.v2` is for "
            "programs that are written for version 2."
        )
    return None if name in (None, "v1") else f"acp_bindings.{name}"
