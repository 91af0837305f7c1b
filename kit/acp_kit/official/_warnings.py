"""Warnings that name a line of the program, not one of this package."""

from __future__ import annotations

import inspect
from types import FrameType
from warnings import warn

# The modules between a line of the program and this package.
_BETWEEN = ("acp_kit.official", "asyncio", "contextlib")


def warn_caller(text: str, category: type[Warning]) -> None:
    """Warn about the line of the program that led here."""
    frame = inspect.currentframe()
    level = 1
    while frame is not None and _is_between(frame):
        frame = frame.f_back
        level += 1
    warn(text, category, stacklevel=level)


def _is_between(frame: FrameType) -> bool:
    name: str = frame.f_globals.get("__name__", "")
    return any(name == module or name.startswith(f"{module}.") for module in _BETWEEN)
