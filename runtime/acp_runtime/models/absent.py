"""`ABSENT`: the value of an argument that isn't given.

pydantic stores a default for a field that wasn't given and remembers apart which ones were. A message dumped by
anything that doesn't ask for that (a type adapter, a framework, a union) would then say null where its sender said
nothing. Here an optional field's default is an absent value, and a field whose value is absent is not in the instance.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final


class Absent:
    """The type of `ABSENT`."""

    def __repr__(self) -> str:
        return "ABSENT"

    def __bool__(self) -> bool:
        return False

    def __reduce__(self) -> str:
        return "ABSENT"


ABSENT: Final[Any] = Absent()
"""Passed for a keyword of a proxy or a constructor: the same as leaving it out. `None` is null.

There is one such object, it is falsy, and reading a field never gives it. A required field refuses it.
"""


REQUIRED: Final = "Field required, so it can't be ABSENT"
"""What is said where it is passed for a required argument."""


class AbsentDefault(Absent):
    """`ABSENT` as the default of a field. It equals what reading the field gives, for callers that exclude defaults.

    Args:
        make: makes what reading the field gives.
    """

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make

    def __eq__(self, other: object) -> bool:
        return bool(self.make() == other)

    def __hash__(self) -> int:
        return hash(AbsentDefault)

    def __getattr__(self, name: str) -> Any:
        """Whoever looks for the fields of a model here is not to take them for missing."""
        if name.startswith("__"):
            raise AttributeError(name)
        raise LookupError(f"An absent value has no {name!r}")
