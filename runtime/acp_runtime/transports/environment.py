"""The environment of a subprocess: this process's by default, a part of it if asked for, and what is added."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Mapping
from typing import Any, cast

# What a program needs to run and to find its user's files. Nothing that is likely to be a secret.
_SAFE = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TERM", "TMPDIR", "TZ"),
    *("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME"),
    *("APPDATA", "COMSPEC", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATHEXT", "PROGRAMDATA", "PROGRAMFILES"),
    *("SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TMP", "USERNAME", "USERPROFILE", "WINDIR"),
)


def environment(extra: Mapping[str, str] | None, inherit: bool | Collection[str]) -> dict[str, str]:
    """The environment of a subprocess.

    Args:
        extra: what is added; goes before what is inherited.
        inherit: everything, the few variables that every program needs, or those of these names.

    Raises:
        TypeError: if `inherit` is a single name, or a name or a value is no text.
    """
    wanted = cast("object", inherit)
    if isinstance(wanted, str) or not isinstance(wanted, (bool, Collection)):
        raise TypeError(f"inherit_env is True, False or a list of names, not {wanted!r}.")
    _check_texts(extra)
    return {**{name: value for name, value in os.environ.items() if _is_passed(name, inherit)}, **(extra or {})}


def _check_texts(extra: Mapping[Any, Any] | None) -> None:
    """Refuse what no environment can hold. Values are secrets: errors name their variables and types only."""
    given = cast("object", extra)
    if given is not None and not isinstance(given, Mapping):
        raise TypeError(f"env is a dict of names and values, not a {type(given).__name__}.")
    for name, value in (extra or {}).items():
        if not isinstance(name, (str, bytes)):
            raise TypeError(f"The names in env are text, not values of type {type(name).__name__}.")
        if not isinstance(value, (str, bytes, os.PathLike)):
            raise TypeError(f"The value of {name!r} in env is text, not a value of type {type(value).__name__}.")


def _is_passed(name: str, inherit: bool | Collection[str]) -> bool:
    if isinstance(inherit, bool):
        return inherit or name in _SAFE or name.startswith("LC_")
    # Windows has its names in upper case, whatever people write.
    return name in inherit or (sys.platform == "win32" and name in {each.upper() for each in inherit})
