"""Helpers of the fixture `generate`, which generates and imports a package."""

from __future__ import annotations

import sys
import typing
from collections.abc import Callable
from types import ModuleType

Generate = Callable[..., ModuleType]


def unload_bindings() -> None:
    """Unload the package of bindings, so that another one can be imported under its name."""
    typing.clear_overloads()  # typing keys them by module and name, which the real package shares
    for name in [name for name in sys.modules if name.partition(".")[0] == "acp_bindings"]:
        del sys.modules[name]
