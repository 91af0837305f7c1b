"""Facts that no schema states: plain data, with the Python code that makes them at run time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from codegen.escaping import python_literal
from codegen.nodes import is_array, is_object


@dataclass(frozen=True)
class PlaceFact:
    """A fact about a place in the params or the result of a method.

    Attributes:
        kind: `Needs`, `Absolute` or `Unsupported`, the name of its class in `acp_runtime.stubs.facts`.
        place: the path of the place: properties and tags, with dots between them.
        capability: for `Needs`, the path of the capability in the `initialize` message of the side that receives it.
        rejects: whether a receiver answers with an error.
    """

    kind: str
    place: str
    capability: str = ""
    rejects: bool = False

    @property
    def source(self) -> str:
        """The Python code that makes it."""
        arguments: list[tuple[str, Any]] = [("", text) for text in (self.place, self.capability) if text]
        if self.rejects:
            arguments.append(("rejects", True))
        return _write_call(self.kind, arguments)


@dataclass(frozen=True)
class Cancelled:
    """How the requests of a session are cancelled: the attributes of the class in `acp_runtime.stubs.methods`."""

    by: str
    result: str = ""
    by_id: bool = False

    @property
    def source(self) -> str:
        """The Python code that makes it."""
        return _write_call("Cancelled", [(name, value) for name, value in vars(self).items() if value])


@dataclass(frozen=True)
class Accepted:
    """How a handler accepts a request: the attributes of the class in `acp_runtime.stubs.methods`."""

    by: str
    field: str
    tag: str
    tags: list[str]
    id: str

    @property
    def source(self) -> str:
        """The Python code that makes it."""
        return _write_call("Accepted", vars(self).items())


@dataclass(frozen=True)
class Effect:
    """What a kind of update does to the state of its session.

    Attributes:
        name: the name of its class in `acp_runtime.updates`; empty if it does nothing.
        arguments: the arguments of that class, each after its keyword, which is empty for the first one.
        entry: its entry in `methods.toml`.
        table: the table of the entry, such as `v1.updates`.
        missing: the names in the entry that this schema lacks, each after the entry's key that names it.
    """

    name: str
    arguments: tuple[tuple[str, Any], ...]
    entry: dict[str, Any] = field(compare=False)
    table: str = field(compare=False)
    missing: tuple[tuple[str, str], ...] = field(compare=False)

    @property
    def source(self) -> str:
        """The Python code that makes it; empty if it does nothing, or if the schema lacks a name in its entry."""
        return _write_call(self.name, self.arguments) if self.arguments else ""


def _write_call(name: str, arguments: Iterable[tuple[str, Any]]) -> str:
    """Write a call as Python source. Each argument comes after its keyword, which may be empty."""
    texts = (f"{keyword}={write_value(value)}" if keyword else write_value(value) for keyword, value in arguments)
    return f"{name}({', '.join(texts)})"


def write_value(value: Any) -> str:
    """Write JSON or a fact as Python source."""
    if isinstance(value, Cancelled | Accepted):
        return value.source
    if is_object(value):
        return f"{{{', '.join(f'{python_literal(key)}: {write_value(item)}' for key, item in value.items())}}}"
    if is_array(value):
        return f"[{', '.join(map(write_value, value))}]"
    return python_literal(value)
