"""Builds the environment of a subprocess: all or part of this process's environment, plus additional variables."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Mapping
from typing import Any, cast

# The variables that programs need to run and to find their user's files. None is likely to hold a secret.
_SAFE = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TERM", "TMPDIR", "TZ"),
    *("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME"),
    *("APPDATA", "COMSPEC", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATHEXT", "PROGRAMDATA", "PROGRAMFILES"),
    *("SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TMP", "USERNAME", "USERPROFILE", "WINDIR"),
)


def environment(extra: Mapping[str, str] | None, inherit: bool | Collection[str]) -> dict[str, str]:
    """Return the environment of a subprocess.

    Args:
        extra: additional variables, which override inherited ones.
        inherit: True for all variables, False for the few that every program needs, or the names of those to inherit.

    Raises:
        TypeError: if `inherit` is a single name, or a name or value in `extra` is not text.
    """
    wanted = cast("object", inherit)
    if isinstance(wanted, str) or not isinstance(wanted, (bool, Collection)):
        raise TypeError(f"inherit_env must be True, False or a list of names, not {wanted!r}.")
    _check_texts(extra)
    return {**{name: value for name, value in os.environ.items() if _is_inherited(name, inherit)}, **(extra or {})}


def _check_texts(extra: Mapping[Any, Any] | None) -> None:
    """Refuse names and values that are not text. Errors don't quote values, because these may be secrets."""
    given = cast("object", extra)
    if given is not None and not isinstance(given, Mapping):
        raise TypeError(f"env must be a dict of names and values, not a {type(given).__name__}.")
    for name, value in (extra or {}).items():
        if not isinstance(name, (str, bytes)):
            raise TypeError(f"The names in env must be text, not of type {type(name).__name__}.")
        if not isinstance(value, (str, bytes, os.PathLike)):
            raise TypeError(f"The value of {name!r} in env must be text, not of type {type(value).__name__}.")


def _is_inherited(name: str, inherit: bool | Collection[str]) -> bool:
    if isinstance(inherit, bool):
        return inherit or name in _SAFE or name.startswith("LC_")
    # On Windows, names in os.environ are always upper case.
    return name in inherit or (sys.platform == "win32" and name in {each.upper() for each in inherit})
