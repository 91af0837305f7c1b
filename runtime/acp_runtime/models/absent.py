"""`ABSENT`, the value of an argument that is left out.

pydantic stores the default of a field that isn't given, and records separately which fields are set. Unless asked to
exclude the others, anything that dumps such a model (a type adapter, a framework, a union) would write null for a
field that the sender left out. So the default of an optional field here is an absent value, and an instance doesn't
hold fields whose value is absent.
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
"""Pass it for a keyword of a proxy or a constructor to leave that keyword out. `None` is null.

It is a singleton and falsy. Reading a field never returns it, and a required field refuses it.
"""


REQUIRED: Final = "Field required: pass a value instead of ABSENT"
"""The error message for `ABSENT` passed as a required argument."""


class AbsentDefault(Absent):
    """`ABSENT` as the default of a field. It equals the value that the field reads as, for `exclude_defaults`.

    Args:
        make: returns the value that the field reads as.
    """

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make

    def __eq__(self, other: object) -> bool:
        return bool(self.make() == other)

    def __hash__(self) -> int:
        return hash(AbsentDefault)

    def __getattr__(self, name: str) -> Any:
        """Raise an error other than AttributeError, which pydantic would take for a missing field of a model."""
        if name.startswith("__"):
            raise AttributeError(name)
        raise LookupError(f"An absent value has no attribute {name!r}")
