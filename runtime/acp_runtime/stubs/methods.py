"""Describes methods of the protocol: name, params, result, the side that handles it, the capability that unlocks it.

The tables of methods are generated, one per profile. They refer to models by name, so that importing a table builds no
model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib import import_module
from types import ModuleType
from typing import Any, Generic, Literal, NamedTuple, TypeAlias, TypedDict, TypeVar, dataclass_transform

from acp_runtime.stubs.facts import PlaceFact

P = TypeVar("P")
R_co = TypeVar("R_co", covariant=True)

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


@dataclass_transform(eq_default=False, kw_only_default=True)
class _Facts:
    """An object with the attributes that it is made with. Type checkers know the constructor from the annotations.

    It is no dataclass, because defining one adds half a millisecond to the start of every program.
    """

    def __init__(self, **facts: Any) -> None:
        vars(self).update(facts)


class Newer(TypedDict, total=False):
    """How an agent reads the opening request of a client that asks for a newer version.

    Attributes:
        advertised: the properties there with the client's capabilities, and with its name and version, unless they are
            those of the profile.
        without: the capabilities that clients of newer versions never have.
        unknown_info: the name and version of a client if the profile can't read them.
    """

    advertised: Sequence[str]
    without: Mapping[str, Any]
    unknown_info: Mapping[str, Any]


class Profile(_Facts):
    """One version and stability of ACP, which has a package of generated code.

    Attributes:
        package: the name of the package.
        protocol_version: the number that `initialize` negotiates.
        session: the property that names the session of a message.
        session_attribute: the attribute of models for that property.
        version_attribute: the attribute for the property with the version, in the messages that open a connection.
        version: that property.
        advertised: the properties of these messages with a role's capabilities, and with its name and version.
        refuses_lower: whether an agent refuses a lower version instead of answering with its own.
        newer: how an agent reads the opening request of a newer version.
        batches: whether messages may come in arrays (JSON-RPC 2.0 section 6).
    """

    package: str
    protocol_version: int
    session: str
    session_attribute: str
    version: str
    version_attribute: str
    advertised: Mapping[Role, tuple[str, str]]
    refuses_lower: bool
    newer: Newer
    batches: bool = False

    @cached_property
    def models(self) -> ModuleType:
        """The module of the models, imported on first use."""
        return import_module(f"{self.package}.models")


def session_of(profile: Profile, params: Any) -> str | None:
    """Return the session that params belong to; None if they belong to none."""
    is_json = params.__class__ is dict
    session = params.get(profile.session) if is_json else getattr(params, profile.session_attribute, None)
    return session if isinstance(session, str) else None


class Method(_Facts):
    """The common part of requests and notifications. Fields are given by their names in Python.

    Attributes:
        profile: the profile it belongs to. A declared extension method has none until a handler handles it.
        wire: its name on the wire, such as `session/new`.
        name: its name in Python, as a method of handlers and of proxies.
        params: the name of the model, or union of models, of its params.
        side: the side that handles it, as the schema's `x-side` names it, or "extension".
        capability: the capability that unlocks it; None if none does.
        baseline: whether every peer implements it.
        params_facts: facts about places in the params.
        exempt: a field that names a session or terminal; if the peer created that one, no capability is needed.
        ends: the field with the session or terminal that no longer exists once the method is answered.
        cancels: the field with the id of the request that the method cancels.
    """

    profile: Profile
    wire: str
    name: str
    params: str
    side: Side
    capability: Capability | None = None
    baseline: bool = False
    params_facts: tuple[PlaceFact, ...] = ()
    exempt: str | None = None
    ends: str | None = None
    cancels: str | None = None

    @cached_property
    def params_type(self) -> Any:
        """The model, or union of models, of its params."""
        return getattr(self.profile.models, self.params)

    @cached_property
    def ends_session(self) -> bool:
        """Whether a session no longer exists once it is answered."""
        return self.ends is not None and self.ends == self.profile.session_attribute

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.wire!r})"


class Cancelled(_Facts):
    """How the requests of a session are cancelled.

    Attributes:
        by: the notification that cancels them.
        result: the JSON of the result that then answers them; empty for the error -32800.
        by_id: whether that result also answers a request that is cancelled by its id.
    """

    by: str
    result: str = ""
    by_id: bool = False


class Accepted(_Facts):
    """The notification with which a handler accepts a request. It can't answer with an error any more.

    Attributes:
        by: the notification.
        field: the field of its params that shows it.
        tag: the field of that with its tag.
        tags: the values of the tag that show it.
        id: the field of that with the id, which the result of the request has, too.
    """

    by: str
    field: str
    tag: str
    tags: Sequence[str]
    id: str


class Request(Method, Generic[P, R_co]):
    """A method that is answered.

    Attributes:
        result: the name of the model of its result.
        result_facts: facts about places in the result.
        opens: whether it opens the connection and negotiates the version.
        creates: the field of its result that names a new session or terminal.
        gone: the error code for a session or terminal that no longer exists. The caller gets an empty result instead.
        cancelled: how it is cancelled with its session; None if it isn't.
        interactive: whether it asks the user something about its session, so that its handler waits until the
            notifications of the session that came before it have been handled.
        accepted: the notification with which its handler accepts it; None if there is none.
    """

    result: str
    result_facts: tuple[PlaceFact, ...] = ()
    opens: bool = False
    creates: str | None = None
    gone: int | None = None
    cancelled: Cancelled | None = None
    interactive: bool = False
    accepted: Accepted | None = None

    @cached_property
    def result_type(self) -> Any:
        """The model, or union of models, of its result."""
        return getattr(self.profile.models, self.result)

    @cached_property
    def creates_session(self) -> bool:
        """Whether its result names a new session."""
        return self.creates is not None and self.creates == self.profile.session_attribute


class Notification(Method, Generic[P]):
    """A method that is not answered."""


AnyMethod: TypeAlias = Request[Any, Any] | Notification[Any]
