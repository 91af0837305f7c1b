"""Extension methods of a vendor, with params and results of every kind of type, and an agent that handles them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Generic, NotRequired, TypeVar

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, field_validator
from pydantic.alias_generators import to_camel
from typing_extensions import TypedDict

from acp_bindings.v1 import RemoteClient
from acp_runtime import ExtNotification, ExtRequest, InvalidParams, Model, absent, handles
from tests.support.runtime.peer import Peer, PlainAgent


class Ours(Model):
    """A model with a base of ours."""

    text: str
    session_id: str | None = absent()


class Theirs(BaseModel):
    """A model of pydantic with aliases."""

    text: str
    session: str | None = Field(default=None, alias="sessionId")


@dataclass(frozen=True, slots=True)
class Data:
    """A dataclass, whose fields are named as on the wire."""

    text: str
    sessionId: str | None = None  # noqa: N815 - a name on the wire


class Camel(BaseModel, alias_generator=to_camel, defer_build=True):
    """A model of pydantic that generates its aliases."""

    text: str
    session_id: str


@dataclass
class Aliased:
    """A dataclass with an alias."""

    text: str
    session: Annotated[str, Field(alias="sessionId")]


@dataclass
class Assigned:
    """A dataclass with an alias in the default of a field."""

    text: str
    session: str = Field(alias="sessionId")


@dataclass
class CamelData:
    """A dataclass that generates its aliases."""

    __pydantic_config__ = ConfigDict(alias_generator=to_camel)
    text: str
    session_id: str


TextT = TypeVar("TextT")


@dataclass
class Parametrised(Generic[TextT]):
    """A generic dataclass."""

    text: TextT
    sessionId: str  # noqa: N815 - a name on the wire


class Keyed(TypedDict):
    """A TypedDict whose keys are not the names on the wire."""

    text: str
    session: Annotated[str, Field(alias="sessionId")]


class Nested(TypedDict):
    """A TypedDict that contains itself."""

    text: str
    session: Annotated[str, Field(validation_alias=AliasChoices("session", "sessionId"))]
    children: NotRequired[list[Nested]]


class Typed(TypedDict, total=False):
    """A TypedDict."""

    text: str
    sessionId: str


class TypedText(TypedDict):
    """A TypedDict with a required key."""

    text: str


class Checked(BaseModel):
    """A model whose validator fails in another way than pydantic asks for."""

    text: str

    @field_validator("text")
    @classmethod
    def look_up(cls, text: str) -> str:
        return {"known": text}[text]


class Nothing(Model):
    """An empty result."""


@dataclass
class Deep:
    """Any JSON, and containers that models of ours don't have."""

    tree: Any
    pair: tuple[str, int] = ("", 0)
    names: frozenset[str] = frozenset()


ECHO: dict[str, ExtRequest[Any, Any]] = {
    "ours": ExtRequest("_acme/ours", Ours, Ours),
    "theirs": ExtRequest("_acme/theirs", Theirs, Theirs),
    "data": ExtRequest("_acme/data", Data, Data),
    "typed": ExtRequest("_acme/typed", TypedText, TypedText),
}
"""Requests by the kind of their types. Their handlers return the params."""

KINDS = sorted(ECHO)

EXAMPLES: dict[str, Any] = {
    "ours": Ours(text="a"),
    "theirs": Theirs(text="a"),
    "data": Data("a"),
    "typed": TypedText(text="a"),
}

NOTE: dict[str, ExtNotification[Any]] = {
    "ours": ExtNotification("_acme/note_ours", Ours),
    "theirs": ExtNotification("_acme/note_theirs", Theirs),
    "data": ExtNotification("_acme/note_data", Data),
    "typed": ExtNotification("_acme/note_typed", Typed),
    "camel": ExtNotification("_acme/note_camel", Camel),
    "aliased": ExtNotification("_acme/note_aliased", Aliased),
    "assigned": ExtNotification("_acme/note_assigned", Assigned),
    "camel data": ExtNotification("_acme/note_camel data", CamelData),
    "generic": ExtNotification("_acme/note_generic", Parametrised[str]),
    "keyed": ExtNotification("_acme/note_keyed", Keyed),
    "nested": ExtNotification("_acme/note_nested", Nested),
}
"""Notifications by the kind of their types."""

RESULT = ExtRequest("_acme/result", Ours, TypedText)
WAIT = ExtRequest("_acme/wait", Ours, Ours)
CHECKED = ExtRequest("_acme/checked", Checked, Checked)
CHECKED_NOTE = ExtNotification("_acme/note_checked", Checked)

# A result that can be empty, one that can be null, a name without underscore, and numbers that JSON may not have.
CLEAR: ExtRequest[Ours, Nothing] = ExtRequest("_acme/clear", Ours, Nothing)
FIND: ExtRequest[Ours, Any] = ExtRequest("_acme/find", Ours, Any)
DRAIN = ExtRequest("craft/drain", Ours, Ours, unprefixed=True)
MEASURE: ExtRequest[Any, Any] = ExtRequest("_acme/measure", dict[str, float], dict[str, float])

# Methods that need a capability.
PATH = ("_meta", "acme.dev", "ping")
PING = ExtRequest("_acme/ping", Ours, Ours, capability=PATH)
LOG = ExtNotification("_acme/log", Ours, capability=PATH)


class VendorAgent(PlainAgent):
    """Handles the extension methods above."""

    def __init__(self, client: RemoteClient) -> None:
        super().__init__(client)
        self.noted: list[Any] = []
        self.invalid: list[tuple[str, Any]] = []
        self.result: Any = None
        self.waits = asyncio.Event()

    @handles(ECHO["ours"])
    async def ours(self, params: Ours) -> Ours:
        return params

    @handles(ECHO["theirs"])
    async def theirs(self, params: Theirs) -> Theirs:
        return params

    @handles(ECHO["data"])
    async def data(self, params: Data) -> Data:
        return params

    @handles(ECHO["typed"])
    async def typed(self, params: TypedText) -> TypedText:
        return params

    @handles(NOTE["ours"])
    @handles(NOTE["theirs"])
    @handles(NOTE["data"])
    @handles(NOTE["typed"])
    async def note(self, params: Any) -> None:
        self.noted.append(params)

    @handles(RESULT)
    async def give_result(self, params: Ours) -> TypedText:
        result: TypedText = self.result
        return result

    @handles(WAIT)
    async def wait(self, params: Ours) -> Ours:
        self.waits.set()
        await asyncio.Event().wait()
        return params

    @handles(CHECKED)
    async def checked(self, params: Checked) -> Checked:
        return params

    @handles(CHECKED_NOTE)
    async def note_checked(self, params: Checked) -> None:
        self.noted.append(params)

    async def invalid_notification(self, method: str, params: Any, error: InvalidParams) -> None:
        self.invalid.append((method, error.data))


class Made:
    """A factory that remembers the handler it made."""

    def __init__(self, factory: Callable[[Any], Any]) -> None:
        self._factory = factory
        self.handler: Any = None

    def __call__(self, remote: Any) -> Any:
        self.handler = self._factory(remote)
        return self.handler


async def answer(peer: Peer, result: Any) -> Any:
    """Answer the next request and give its params."""
    request = await peer.receive()
    await peer.send({"id": request["id"], "result": result})
    return request["params"]
