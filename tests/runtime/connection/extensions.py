"""Extension methods of a vendor, with models of ours and of pydantic, and an agent that handles them."""

from __future__ import annotations

import asyncio
from typing import Any

from pydantic import AliasChoices, BaseModel, Field, field_validator
from pydantic.alias_generators import to_camel

from acp_bindings.v1 import RemoteClient
from acp_runtime import ExtNotification, ExtRequest, InvalidParams, Model, absent, handles
from tests.support.runtime.peer import PlainAgent


class Ours(Model):
    """A model with a base of ours."""

    text: str
    session_id: str | None = absent()


class Theirs(BaseModel):
    """A model of pydantic with aliases."""

    text: str
    session: str | None = Field(default=None, alias="sessionId")


class Camel(BaseModel, alias_generator=to_camel):
    """A model of pydantic that generates its aliases."""

    text: str
    session_id: str


class Choices(BaseModel):
    """A model of pydantic that is parsed from any of several names."""

    text: str
    session: str = Field(validation_alias=AliasChoices("session", "sessionId"))


class Plain(BaseModel):
    """A model of pydantic without aliases."""

    text: str
    sessionId: str  # noqa: N815 - the name on the wire


class Checked(BaseModel):
    """A model whose validator fails in another way than pydantic asks for."""

    text: str

    @field_validator("text")
    @classmethod
    def look_up(cls, text: str) -> str:
        return {"known": text}[text]


class Nothing(Model):
    """An empty result."""


class Deep(BaseModel):
    """Any JSON, and containers that models of ours don't have."""

    tree: Any
    pair: tuple[str, int] = ("", 0)
    names: frozenset[str] = frozenset()


ECHO: dict[str, ExtRequest[Any, Any]] = {
    "ours": ExtRequest("_acme/ours", Ours, Ours),
    "theirs": ExtRequest("_acme/theirs", Theirs, Theirs),
}
"""Requests by the kind of their models. Their handlers return the params."""

KINDS = sorted(ECHO)

EXAMPLES: dict[str, Any] = {"ours": Ours(text="a"), "theirs": Theirs(text="a")}

NOTE: dict[str, ExtNotification[Any]] = {
    "ours": ExtNotification("_acme/note_ours", Ours),
    "theirs": ExtNotification("_acme/note_theirs", Theirs),
    "camel": ExtNotification("_acme/note_camel", Camel),
    "choices": ExtNotification("_acme/note_choices", Choices),
    "plain": ExtNotification("_acme/note_plain", Plain),
}
"""Notifications by the kind of their models."""

RESULT = ExtRequest("_acme/result", Ours, Theirs)
WAIT = ExtRequest("_acme/wait", Ours, Ours)
CHECKED = ExtRequest("_acme/checked", Checked, Checked)
CHECKED_NOTE = ExtNotification("_acme/note_checked", Checked)

# A result that can be empty, and a name without underscore.
CLEAR: ExtRequest[Ours, Nothing] = ExtRequest("_acme/clear", Ours, Nothing)
DRAIN = ExtRequest("craft/drain", Ours, Ours, unprefixed=True)

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

    @handles(NOTE["ours"])
    @handles(NOTE["theirs"])
    async def note(self, params: Any) -> None:
        self.noted.append(params)

    @handles(RESULT)
    async def give_result(self, params: Ours) -> Theirs:
        result: Theirs = self.result
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
