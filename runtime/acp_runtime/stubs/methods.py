"""What a method of the protocol is: its name, its params and result, who handles it, what unlocks it.

The tables of methods are generated, one per profile; they name their models instead of holding them, so that
importing a table builds no model. Nothing here is a dataclass: making one takes half a millisecond of every start.
"""

from __future__ import annotations

from collections.abc import Mapping
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
        session: the property that names the session of a message.
        version: the property with the version in the messages that open a connection.
        agent: the properties in which an agent says there what it can do and what it is.
        client: likewise for a client.
        refuses_lower: an agent that is asked for a lower version refuses it instead of answering with its own.
    """

    def __init__(
        self,
        package: str,
        protocol_version: int,
        *,
        session: str,
        version: str,
        agent: tuple[str, str],
        client: tuple[str, str],
        refuses_lower: bool,
    ) -> None:
        self.package: Final = package
        self.protocol_version: Final = protocol_version
        self.session: Final = session
        self.version: Final = version
        self.advertised: Final[Mapping[Role, tuple[str, str]]] = {"agent": agent, "client": client}
        self.refuses_lower: Final = refuses_lower

    @cached_property
    def session_attribute(self) -> str:
        """The attribute of models that holds `session`."""
        return _attribute(self.session)

    @cached_property
    def version_attribute(self) -> str:
        """The attribute of models that holds `version`."""
        return _attribute(self.version)

    @cached_property
    def models(self) -> ModuleType:
        """The module of the models, loaded when the first one is needed."""
        return import_module(f"{self.package}.models")

    def __repr__(self) -> str:
        return f"Profile({self.package!r}, {self.protocol_version})"


def _attribute(wire: str) -> str:
    from pydantic.alias_generators import to_snake

    return to_snake(wire)


class Method:
    """What requests and notifications have in common. Attributes of models are named as in Python.

    Args:
        profile: the version of the protocol it belongs to.
        wire: its name on the wire, such as `session/new`.
        name: its name in Python: of the handler, and of the proxy's method.
        params: the name of the model (or union of models) of its params.
        side: who handles it, in the schema's words.
        capability: the path in the peer's `initialize` message that unlocks it; None if nothing does.
        baseline: every peer implements it.
        content: what in its params needs a capability of its own: a field, or `<field>.<tag>`, and the path likewise.
        exempt: the field of its params that names what the peer created for us; for that it needs no capability.
        ends: the field of its params whose session or terminal is gone once it is answered.
        cancels: the field of its params that holds the id of the request it cancels.
        paths: the fields of its params that hold absolute paths.
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
        exempt: str | None = None,
        ends: str | None = None,
        cancels: str | None = None,
        paths: tuple[str, ...] = (),
    ) -> None:
        self.profile: Final = profile
        self.wire: Final = wire
        self.name: Final = name
        self.params: Final = params
        self.side: Final = side
        self.capability: Final = capability
        self.baseline: Final = baseline
        self.content: Final = content
        self.exempt: Final = exempt
        self.ends: Final = ends
        self.cancels: Final = cancels
        self.paths: Final = paths

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.wire!r})"


class Request(Method, Generic[P, R]):
    """A method that is answered.

    Args:
        result: the name of the model of its result.
        opens: it begins the connection and negotiates the version.
        creates: the field of its result that names a new session or terminal.
        gone: the error code that means that what it ends was not there; callers get an empty result.
        cancelled: the notification that cancels it, by session, and the JSON of the result it is answered with then.
    """

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
        exempt: str | None = None,
        ends: str | None = None,
        paths: tuple[str, ...] = (),
        opens: bool = False,
        creates: str | None = None,
        gone: int | None = None,
        cancelled: tuple[str, str] | None = None,
    ) -> None:
        super().__init__(
            profile,
            wire,
            name,
            params,
            side,
            capability=capability,
            baseline=baseline,
            content=content,
            exempt=exempt,
            ends=ends,
            paths=paths,
        )
        self.result: Final = result
        self.opens: Final = opens
        self.creates: Final = creates
        self.gone: Final = gone
        self.cancelled: Final = cancelled

    @cached_property
    def creates_session(self) -> bool:
        """Whether its result names a new session."""
        return self.creates == self.profile.session_attribute


class Notification(Method, Generic[P]):
    """A method that is not answered."""


AnyMethod: TypeAlias = Request[Any, Any] | Notification[Any]
