"""Absent fields: fields that were not given, and are not dumped.

The value of an absent field is pydantic's `MISSING`, which no serializer dumps. Reading the field gives the default
that the schema names.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any, Final

from pydantic import Field
from pydantic_core import to_jsonable_python

from acp_runtime.models.older_pydantic import MISSING

ABSENT: Final[Any] = MISSING
"""Pass it for a keyword of a proxy or a constructor to leave that keyword out. `None` is null.

It is pydantic's `MISSING`, a singleton, and truthy. Reading a field never returns it, and a required field refuses it.
"""


def absent(default: Any = None, *, default_factory: Callable[[], Any] | None = None) -> Any:
    """Declare a field that is left out of JSON unless it is given.

    Args:
        default: the value of the attribute if the field is absent. It is copied each time.
        default_factory: returns the value, instead of `default`.
    """
    return Field(default=MISSING, json_schema_extra=AbsentDefault(default_factory or (lambda: copy(default))))


class AbsentDefault:
    """The value of an attribute whose field is absent. It is the `json_schema_extra` of the field."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make

    def __call__(self, schema: dict[str, Any]) -> None:
        """Add the default to the JSON schema of the field."""
        if (value := self.make()) is not None:
            schema["default"] = to_jsonable_python(value)


class AbsentField:
    """The attribute of a field that may be absent."""

    def __init__(self, name: str, make: Callable[[], Any]) -> None:
        self._name = name
        self._make = make

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            raise AttributeError(self._name)  # as for any field of pydantic's
        value = instance.__dict__.get(self._name, MISSING)
        return self._make() if value is MISSING else value

    def __set__(self, instance: Any, value: Any) -> None:
        instance.__dict__[self._name] = value

    def __delete__(self, instance: Any) -> None:
        instance.__dict__[self._name] = MISSING
