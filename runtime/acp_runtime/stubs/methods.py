"""Describes methods of the protocol: name, params, result, the side that handles it, the capability that unlocks it.

The tables of methods are generated, one per profile. They refer to models by name, so that importing a table builds no
model. No class here is a dataclass, because defining one adds half a millisecond to the start of every program.
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
Side: TypeAlias = Literal["agent", "client", "both", "protocol", "proxy", "extension"]
Capability: TypeAlias = str | tuple[str, ...]
"""A path in the peer's `initialize` message; as a tuple, a path in the capabilities there."""


class SchemaSource(NamedTuple):
    """The origin of a profile's schema: its source, version and file, and the SHA-256 of that file."""

    source: str
    version: str
    file: str
    sha256: str


class Profile:
    """One version and stability of ACP, which has a package of generated code.

    Args:
        package: the name of the package.
        protocol_version: the number that `initialize` negotiates.
        session: the property that names the session of a message.
        version: the property with the version in the messages that open a connection.
        agent: the properties of these messages with an agent's capabilities and its name and version.
        client: the corresponding properties for a client.
        refuses_lower: whether an agent refuses a lower version instead of answering with its own.
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
        self.session = session
        self.version: Final = version
        self.advertised: Final[Mapping[Role, tuple[str, str]]] = {"agent": agent, "client": client}
        self.refuses_lower: Final = refuses_lower

    @cached_property
    def session_attribute(self) -> str:
        """The attribute of models for the property `session`."""
        return _python_name(self.session)

    @cached_property
    def version_attribute(self) -> str:
        """The attribute of models for the property `version`."""
        return _python_name(self.version)

    @cached_property
    def models(self) -> ModuleType:
        """The module of the models, imported on first use."""
        return import_module(f"{self.package}.models")

    def __repr__(self) -> str:
        return f"Profile({self.package!r}, {self.protocol_version})"


def _python_name(wire: str) -> str:
    from pydantic.alias_generators import to_snake

    return to_snake(wire)


class Method:
    """The common part of requests and notifications. Fields are given by their names in Python.

    Args:
        profile: the profile it belongs to.
        wire: its name on the wire, such as `session/new`.
        name: its name in Python, as a method of handlers and of proxies.
        params: the name of the model, or union of models, of its params.
        side: the side that handles it, as the schema's `x-side` names it, or "extension".
        capability: the capability that unlocks it; None if none does.
        baseline: whether every peer implements it.
        content: parts of the params that need a capability: a field or `<field>.<tag>`, and the path of the capability.
        exempt: a field that names a session or terminal; if the peer created that one, no capability is needed.
        ends: the field with the session or terminal that no longer exists once the method is answered.
        cancels: the field with the id of the request that the method cancels.
        paths: the fields that hold absolute paths.
        old_names: its old names: on the wire, in Python, and the version of the package that no longer has them.
    """

    def __init__(
        self,
        profile: Profile,
        wire: str,
        name: str,
        params: str,
        side: Side,
        *,
        capability: Capability | None = None,
        baseline: bool = False,
        content: tuple[tuple[str, str], ...] = (),
        exempt: str | None = None,
        ends: str | None = None,
        cancels: str | None = None,
        paths: tuple[str, ...] = (),
        old_names: tuple[tuple[str, str, str], ...] = (),
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
        self.old_names: Final = old_names

    @cached_property
    def params_type(self) -> Any:
        """The model, or union of models, of its params."""
        return getattr(self.profile.models, self.params)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.wire!r})"


class Request(Method, Generic[P, R]):
    """A method that is answered.

    Args:
        result: the name of the model of its result.
        opens: whether it opens the connection and negotiates the version.
        creates: the field of its result that names a new session or terminal.
        gone: the error code for a session or terminal that no longer exists. The caller gets an empty result instead.
        cancelled: the notification that cancels it, for a session, and the JSON of the result that then answers it.
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
        capability: Capability | None = None,
        baseline: bool = False,
        content: tuple[tuple[str, str], ...] = (),
        exempt: str | None = None,
        ends: str | None = None,
        paths: tuple[str, ...] = (),
        opens: bool = False,
        creates: str | None = None,
        gone: int | None = None,
        cancelled: tuple[str, str] | None = None,
        old_names: tuple[tuple[str, str, str], ...] = (),
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
            old_names=old_names,
        )
        self.result: Final = result
        self.opens: Final = opens
        self.creates: Final = creates
        self.gone: Final = gone
        self.cancelled: Final = cancelled

    @cached_property
    def result_type(self) -> Any:
        """The model, or union of models, of its result."""
        return getattr(self.profile.models, self.result)

    @cached_property
    def creates_session(self) -> bool:
        """Whether its result names a new session."""
        return self.creates == self.profile.session_attribute


class Notification(Method, Generic[P]):
    """A method that is not answered."""


AnyMethod: TypeAlias = Request[Any, Any] | Notification[Any]
