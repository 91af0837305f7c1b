"""Refuses a text where a sequence of texts is needed. Type checkers don't: a text is a sequence of its characters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from acp_runtime import Model

T = TypeVar("T")


def check_sequence(name: str, value: T) -> T:
    """Return an argument, unless it is a single item instead of a sequence.

    Args:
        name: the name of the parameter.
        value: the argument.

    Raises:
        TypeError: if it is a text, bytes, a mapping or a model. The message says what to write instead.
    """
    if isinstance(value, (str, bytes, Mapping, Model)):
        raise TypeError(f"{name} must be a list, such as [{value!r}], not {value!r}.")
    return value
