"""Refuses a text where a sequence is needed. Type checkers don't: a text is a sequence of its letters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from acp_runtime import Model

T = TypeVar("T")


def not_a_text(name: str, value: T) -> T:
    """Return the argument of a parameter.

    Args:
        name: the parameter.
        value: what was passed.

    Raises:
        TypeError: if it is a text, bytes, a mapping or a single model. The message says what to write instead.
    """
    if isinstance(value, (str, bytes, Mapping, Model)):
        raise TypeError(f"{name} must be a list, such as [{value!r}], not {value!r}.")
    return value
