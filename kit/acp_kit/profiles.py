"""The classes of another profile that have the same messages.

acp_kit is written for `acp_bindings.v1`. Proxies and requests of `v1_unstable` work too: for them, messages are built
with the classes of that profile.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any, TypeVar, cast

T = TypeVar("T")


def like(other: object, cls: type[T]) -> type[T]:
    """Return a class of `acp_bindings.v1`, or the class with its name in the profile of another object.

    Args:
        other: a proxy, or an instance of a model.
        cls: the class in `acp_bindings.v1`.
    """
    return cast("type[T]", _in_profile(type(other), cls))


@cache
def _in_profile(other: Any, cls: Any) -> Any:
    for base in other.__mro__:
        package, _, rest = base.__module__.partition(".")
        profile = rest.partition(".")[0]
        if package == "acp_bindings" and profile not in ("", "v1"):
            return getattr(import_module(f"acp_bindings.{profile}"), cls.__name__)
    return cls
