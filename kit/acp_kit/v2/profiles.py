"""The classes of the profile of version 2 that a proxy or a model belongs to."""

from __future__ import annotations

from importlib import import_module
from typing import Any, cast

from acp_kit.common.profiles import profile_of


def class_like(other: object, name: str) -> Any:
    """Return the class with a name in the profile of a proxy or a model.

    Raises:
        TypeError: the other object isn't of version 2.
    """
    return getattr(import_module(f"acp_bindings.{check_version(other)}"), name)


def check_version(other: object) -> str:
    """Refuse a proxy or a model that isn't of version 2. Return the name of its profile.

    Raises:
        TypeError: it isn't.
    """
    profile = profile_of(cast("Any", type(other)))
    if profile is None or not profile.startswith("v2"):
        raise TypeError(f"acp_kit.v2 is for version 2, but this {type(other).__name__} isn't of acp_bindings.v2_draft.")
    return profile
