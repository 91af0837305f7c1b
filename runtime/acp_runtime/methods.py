"""What a method of the protocol is: its name, its params and result, who handles it, what unlocks it.

The tables of methods are generated, one per profile; they name their models instead of holding them, so that
importing a table builds no model. Nothing here is a dataclass: making one takes half a millisecond of every start.
"""

from __future__ import annotations

from functools import cached_property
from importlib import import_module
from types import ModuleType
from typing import Any, Final, Generic, Literal, NamedTuple, TypeAlias, TypeVar

P = TypeVar("P")
R = TypeVar("R")

Role: TypeAlias = Literal["agent", "client"]
Side: TypeAlias = Literal["agent", "client", "both", "protocol", "proxy"]


class SchemaSource(NamedTuple):
    """Where the schema of a profile came from: its source, version and file, and the SHA-256 of that file."""

    source: str
    version: str
    file: str
    sha256: str


class Profile:
    """A version of the protocol as a package of generated code.

    Args:
        package: the package's name.
        protocol_version: the number that `initialize` negotiates.
    """

    def __init__(self, package: str, protocol_version: int) -> None:
        self.package = package
        self.protocol_version = protocol_version

    @cached_property
    def models(self) -> ModuleType:
        """The module of the models, loaded when the first one is needed."""
        return import_module(f"{self.package}.models")

    def __repr__(self) -> str:
        return f"Profile({self.package!r}, {self.protocol_version})"


class Method:
    """What requests and notifications have in common.

    Args:
        profile: the version of the protocol it belongs to.
        wire: its name on the wire, such as `session/new`.
        name: its name in Python: of the handler, and of the proxy's method.
        params: the name of the model (or union of models) of its params.
        side: who handles it, in the schema's words.
        capability: the path in the peer's `initialize` message that unlocks it; None if nothing does.
        baseline: every peer implements it.
        content: what in its params needs a capability of its own: a field, or `<field>.<tag>`, and the path likewise.
    """

    def __init__(
        self,
        profile: Profile,
        wire: str,
        name: str,
        params: str,
        side: Side,
        *,
        capability: str | None = None,
        baseline: bool = False,
        content: tuple[tuple[str, str], ...] = (),
    ) -> None:
        self.profile: Final = profile
        self.wire: Final = wire
        self.name: Final = name
        self.params: Final = params
        self.side: Final = side
        self.capability: Final = capability
        self.baseline: Final = baseline
        self.content: Final = content

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.wire!r})"


class Request(Method, Generic[P, R]):
    """A method that is answered. `result` is the name of the model of its result."""

    def __init__(
        self,
        profile: Profile,
        wire: str,
        name: str,
        params: str,
        side: Side,
        *,
        result: str,
        capability: str | None = None,
        baseline: bool = False,
        content: tuple[tuple[str, str], ...] = (),
    ) -> None:
        super().__init__(profile, wire, name, params, side, capability=capability, baseline=baseline, content=content)
        self.result: Final = result


class Notification(Method, Generic[P]):
    """A method that is not answered."""


AnyMethod: TypeAlias = Request[Any, Any] | Notification[Any]
