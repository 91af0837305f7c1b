"""A schema in, the imported package out."""

from __future__ import annotations

import sys
import typing
from collections.abc import Callable
from types import ModuleType

Generate = Callable[..., ModuleType]


def _forget() -> None:
    typing.clear_overloads()  # typing keeps them by name, and the real package's has the same
    for name in [name for name in sys.modules if name.partition(".")[0] == "acp_bindings"]:
        del sys.modules[name]
